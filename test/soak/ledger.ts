/** Readings of the one clock may differ by this much between processes, ms. */
export const CLOCK_SLACK_MS = 1000;
/** A frame without an answer may be appended this long after it was built (its void time). */
const VOID_AFTER_MS = 10_000;

type State = "under way" | "acknowledged" | "refused" | "unknown";

interface Handed {
  /** The event's stamp lies between these two. */
  earliestMs: number;
  latestMs: number;
  state: State;
  isJudged: boolean;
}

/** The events that every process sent, by series, and therefore the events that a reader must find in a window. */
export class SoakLedger {
  acknowledged = 0;
  refused = 0;
  unknown = 0;
  /** Acknowledged events that some read had to show and did, and those that left their windows before any read. */
  judged = 0;
  unread = 0;
  readonly #series: Map<number, Handed>[];
  /** By process and round. */
  readonly #underWay = new Map<string, { handed: Handed; count: number }[]>();

  constructor(series: number) {
    this.#series = Array.from({ length: series }, () => new Map());
  }

  sent(worker: number, round: number, atMs: number, calls: readonly number[]): void {
    const open: { handed: Handed; count: number }[] = [];
    for (let i = 0; i < calls.length; i += 3) {
      const [series, first, count] = calls.slice(i, i + 3) as [number, number, number];
      const handed: Handed = {
        earliestMs: atMs,
        latestMs: Number.POSITIVE_INFINITY,
        state: "under way",
        isJudged: false,
      };
      for (let nth = 0; nth < count; nth++) this.#series[series]!.set(first + nth, handed);
      open.push({ handed, count });
    }
    this.#underWay.set(`${worker} ${round}`, open);
  }

  done(worker: number, round: number, atMs: number, states: string): void {
    const open = this.#underWay.get(`${worker} ${round}`)!;
    this.#underWay.delete(`${worker} ${round}`);
    for (const [i, { handed, count }] of open.entries()) {
      if (states[i] === "a") this.acknowledged += count;
      else if (states[i] === "n") this.refused += count;
      else this.unknown += count;
      handed.state = states[i] === "a" ? "acknowledged" : states[i] === "n" ? "refused" : "unknown";
      handed.latestMs = handed.state === "unknown" ? atMs + VOID_AFTER_MS : atMs;
    }
  }

  /** The process is gone. The outcome of its pending calls is unknown. */
  ended(worker: number, atMs: number): void {
    for (const key of [...this.#underWay.keys()]) {
      if (!key.startsWith(`${worker} `)) continue;
      this.done(worker, Number(key.split(" ")[1]), atMs, "");
    }
  }

  /**
   * Checks whether `found` can be the window (from, to] of a series. Every acknowledged event inside is there once. There is
   * no doubled, refused, unknown or outside event. Returns the complaints. Windows of one series must be judged in the order
   * of time, since events that left this one are dropped.
   */
  judge(series: number, found: ArrayLike<number>, fromMs: number, toMs: number): string[] {
    const handedIn = this.#series[series]!;
    const wrong: string[] = [];
    const seen = new Set<number>();
    for (const value of Array.from(found)) {
      const handed = handedIn.get(value);
      if (seen.has(value)) wrong.push(`${value} is there twice`);
      seen.add(value);
      if (!handed) wrong.push(`${value} was never sent, or left the window long ago`);
      else if (handed.state === "refused") wrong.push(`${value} was refused as not applied, and is there`);
      else if (handed.latestMs + CLOCK_SLACK_MS <= fromMs) wrong.push(`${value} is older than the window`);
      else if (handed.earliestMs - CLOCK_SLACK_MS > toMs) wrong.push(`${value} is younger than the window`);
    }
    for (const [value, handed] of handedIn) {
      const isInside = handed.earliestMs - CLOCK_SLACK_MS > fromMs && handed.latestMs + CLOCK_SLACK_MS <= toMs;
      if (handed.state === "acknowledged" && isInside) {
        if (!seen.has(value)) wrong.push(`${value} was acknowledged and is missing`);
        handed.isJudged = true;
      }
      if (handed.latestMs + CLOCK_SLACK_MS <= fromMs) this.#forget(handedIn, value, handed);
    }
    return wrong.map((text) => `series ${series}, window ${fromMs} to ${toMs}: ${text}`);
  }

  /** No more windows will be judged: completes the tallies. */
  close(): void {
    for (const handedIn of this.#series) for (const [value, handed] of handedIn) this.#forget(handedIn, value, handed);
  }

  #forget(handedIn: Map<number, Handed>, value: number, handed: Handed): void {
    handedIn.delete(value);
    if (handed.state !== "acknowledged") return;
    if (handed.isJudged) this.judged++;
    else this.unread++;
  }
}
