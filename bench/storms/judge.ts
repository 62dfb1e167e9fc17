/** A line of a process's journal. Times are ms of a clock that all processes share and no fault moves. */
export type Entry =
  | { kind: "admitted"; fromMs: number; toMs: number }
  | { kind: "added"; id: string; dueMs: number }
  | { kind: "begun" | "handled"; id: string; atMs: number }
  | { kind: "entered"; hold: string; atMs: number }
  | { kind: "wrote"; hold: string; atMs: number; fence: number | null };

type Of<Kind extends Entry["kind"]> = Extract<Entry, { kind: Kind }>;

function of<Kind extends Entry["kind"]>(entries: readonly Entry[], kind: Kind): Of<Kind>[] {
  return entries.filter((entry): entry is Of<Kind> => entry.kind === kind);
}

/**
 * The most calls that were admitted within one span. A call was admitted at some time between its question and its answer, so it counts
 * only where both lie in the span: the true number is this or more.
 */
export function mostWithin(entries: readonly Entry[], spanMs: number): number {
  const calls = of(entries, "admitted").sort((a, b) => a.fromMs - b.fromMs);
  let most = 0;
  for (const [i, { fromMs }] of calls.entries()) {
    let count = 0;
    for (let j = i; j < calls.length && calls[j]!.fromMs < fromMs + spanMs; j++)
      if (calls[j]!.toMs < fromMs + spanMs) count++;
    most = Math.max(most, count);
  }
  return most;
}

/** A clock of the server in whole ms. */
const EARLY_MS = 2;

/** Of messages whose `add` was acknowledged: those that nobody handled to the end, handled twice, and begun before they were due. */
export function messagesOf(entries: readonly Entry[]): { lost: number; doubled: number; early: number; added: number } {
  const dueMs = new Map(of(entries, "added").map(({ id, dueMs }) => [id, dueMs]));
  const ends = new Map<string, number>();
  for (const { id } of of(entries, "handled")) ends.set(id, (ends.get(id) ?? 0) + 1);
  const early = of(entries, "begun").filter(({ id, atMs }) => atMs < (dueMs.get(id) ?? 0) - EARLY_MS);
  const all = [...dueMs.keys()];
  return {
    added: all.length,
    lost: all.filter((id) => !ends.has(id)).length,
    doubled: all.filter((id) => (ends.get(id) ?? 0) > 1).length,
    early: new Set(early.map(({ id }) => id)).size,
  };
}

/** Writes of a holder after a later one had entered, and those of them that a database which compares fences refuses. */
export function lateWritesOf(entries: readonly Entry[]): { writes: number; late: number; refused: number } {
  const enteredMs = new Map(of(entries, "entered").map(({ hold, atMs }) => [hold, atMs]));
  const writes = of(entries, "wrote").sort((a, b) => a.atMs - b.atMs);
  let [late, refused, newestMs, highest] = [0, 0, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const holds = of(entries, "entered").sort((a, b) => a.atMs - b.atMs);
  let next = 0;
  for (const { hold, atMs, fence } of writes) {
    while (next < holds.length && holds[next]!.atMs <= atMs) newestMs = holds[next++]!.atMs;
    const isLate = (enteredMs.get(hold) ?? atMs) < newestMs;
    if (isLate) late++;
    if (fence !== null && fence < highest) {
      if (isLate) refused++;
    } else if (fence !== null) highest = fence;
  }
  return { writes: writes.length, late, refused };
}
