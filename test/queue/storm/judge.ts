import type { QueuedMessage } from "../../../src/queue/message.ts";
import type { Reported } from "./notes.ts";

/** The state after a storm, and its observations. */
export interface Evidence {
  notes: readonly Reported[];
  /** Actors that were let finish. */
  ended: ReadonlySet<string>;
  dead: readonly QueuedMessage[];
  maxAttempts: number;
}

interface Delivery {
  by: string;
  id: string;
  attempt: number;
  beganMs: number;
  /** From then on its handler does nothing more. */
  handledMs: number;
  untilMs: number;
  isGood: boolean;
  isDone: boolean;
  fates: string[];
}

/** The broken promises. */
export function judge({ notes, ended, dead, maxAttempts }: Evidence): string[] {
  const wrong = notes.flatMap((note) => (note.what === "wrong" ? [`${note.by}: ${note.why}`] : []));
  const all = deliveriesOf(notes);
  const accepted = new Set(notes.flatMap((note) => (note.what === "accepted" ? [note.id] : [])));
  const buried = new Map(dead.map((message) => [message.id, message]));
  for (const id of accepted)
    if (!buried.has(id) && !all.some((each) => each.id === id && each.isGood)) wrong.push(`${id} is lost`);
  for (const { id, attempt, lastError } of dead)
    if (attempt !== maxAttempts) wrong.push(`${id} is dead after ${attempt} deliveries: ${lastError}`);
  for (const each of all) {
    const { by, id, attempt, fates } = each;
    const name = `${id}, delivery ${attempt} of ${by}`;
    if (attempt > maxAttempts) wrong.push(`${name}: more than ${maxAttempts}`);
    // The last delivery lapsed, and its own worker moved it to the dead letters. Its handler then completed it after all.
    const isLateDone = each.isDone && attempt === maxAttempts && `${fates}` === "dead,completed";
    if (ended.has(by) && fates.length !== 1 && !isLateDone)
      wrong.push(`${name}: ended ${fates.length} times: ${fates}`);
    if (each.isDone && buried.has(id)) wrong.push(`${name}: done, and dead`);
    for (const other of all) {
      if (other === each || other.id !== id) continue;
      const that = `delivery ${other.attempt} of ${other.by}`;
      if (each.isDone && other.attempt > attempt) wrong.push(`${name}: done, and then there was ${that}`);
      if (other.attempt > attempt && (each.fates.includes("completed") || each.fates.includes("dead")))
        wrong.push(`${name}: reported as ${each.fates}, but there was ${that}`);
      if (other.beganMs < each.beganMs) continue;
      if (other.attempt === attempt) wrong.push(`${name}: the same as ${that}`);
      const overlapMs = Math.min(each.handledMs, each.untilMs) - other.beganMs;
      if (overlapMs > 0) wrong.push(`${name}: still had it for ${overlapMs.toFixed(1)} ms when ${that} began`);
    }
  }
  return wrong;
}

export function deliveriesOf(notes: readonly Reported[]): Delivery[] {
  const found = new Map<string, Delivery>();
  const heldUntil = new Map<string, number>();
  const keyOf = (note: { by: string; id: string; attempt: number }) => `${note.by} ${note.attempt} ${note.id}`;
  for (const note of notes) {
    if (note.what === "holds") heldUntil.set(keyOf(note), Math.max(heldUntil.get(keyOf(note)) ?? 0, note.untilMs));
    if (note.what !== "began") continue;
    const { by, id, attempt, atMs } = note;
    const open = { handledMs: Number.POSITIVE_INFINITY, untilMs: 0, isGood: false, isDone: false, fates: [] };
    // Again the same by the same actor: judged as another delivery.
    const key = found.has(keyOf(note)) ? `${keyOf(note)} again ${found.size}` : keyOf(note);
    found.set(key, { by, id, attempt, beganMs: atMs, ...open });
  }
  for (const note of notes) {
    const delivery = "attempt" in note ? found.get(keyOf(note)) : undefined;
    if (!delivery) continue;
    delivery.untilMs = heldUntil.get(keyOf(delivery)) ?? 0;
    if (note.what === "handled") {
      delivery.handledMs = note.atMs;
      delivery.isGood = note.isGood;
    }
    if (note.what === "settled" && note.verb === "done") delivery.isDone = true;
    if (note.what === "reported") delivery.fates.push(note.status);
  }
  return [...found.values()];
}
