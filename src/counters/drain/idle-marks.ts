import type { Clock } from "../../base/time.ts";

/** Longer than any producer stays silent under one mark, and than any request is in flight. */
const GONE_AFTER_MS = 3_600_000;

/** Finds the marks of producers that have not changed for an hour, by this process's monotonic clock. */
export class IdleMarks {
  readonly #now: Clock;
  readonly #seen = new Map<string, { position: string; sinceMs: number }>();

  constructor(now: Clock) {
    this.#now = now;
  }

  /** Returns the idle marks among the current marks of a shard. */
  find(shard: number, marks: ReadonlyMap<string, string>): Map<string, string> {
    const nowMs = this.#now();
    const gone = new Map<string, string>();
    for (const [mark, position] of marks) {
      const name = `${shard} ${mark}`;
      const seen = this.#seen.get(name);
      if (seen?.position !== position) this.#seen.set(name, { position, sinceMs: nowMs });
      else if (nowMs - seen.sinceMs > GONE_AFTER_MS) {
        gone.set(mark, position);
        this.#seen.delete(name);
      }
    }
    return gone;
  }
}
