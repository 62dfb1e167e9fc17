import type { Clock } from "../time.ts";

/** Longer than any producer stays silent under one name, and than any message is on its way. */
const GONE_AFTER_MS = 3_600_000;

/** Marks of producers that have stood still for an hour by this process's own clock, which nobody sets. */
export class Producers {
  readonly #now: Clock;
  readonly #seen = new Map<string, { place: string; sinceMs: number }>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Of the marks that a shard has now. */
  gone(shard: number, marks: ReadonlyMap<string, string>): Map<string, string> {
    const nowMs = this.#now();
    const gone = new Map<string, string>();
    for (const [mark, place] of marks) {
      const name = `${shard} ${mark}`;
      const seen = this.#seen.get(name);
      if (seen?.place !== place) this.#seen.set(name, { place, sinceMs: nowMs });
      else if (nowMs - seen.sinceMs > GONE_AFTER_MS) {
        gone.set(mark, place);
        this.#seen.delete(name);
      }
    }
    return gone;
  }
}
