/** Hits of one key in one process, with and without a permit. Each number counts until the limiter forgets its hits. */
interface Counts {
  taken: number;
  takenUntilMs: number;
  untaken: number;
  untakenUntilMs: number;
}

/** Bounds memory to about 20 MB with the longest keys. Above it, the least recently used key is evicted. */
const MAX_KEYS = 50_000;

/**
 * Decides which hits return a permit. express-rate-limit counts a denied request as a hit and decrements it like any
 * other, but the limiter took no permit for it. Hits without a permit are therefore decremented first. The rest then
 * equals the count of a store that counts all hits, and no more permits are returned than were taken. An evicted key
 * returns none.
 */
export class Tally {
  readonly #counts = new Map<string, Counts>();

  took(key: string, nowMs: number, forMs: number): void {
    const counts = this.#of(key, nowMs);
    counts.taken++;
    counts.takenUntilMs = nowMs + forMs;
  }

  tookNothing(key: string, nowMs: number, forMs: number): void {
    const counts = this.#of(key, nowMs);
    counts.untaken++;
    counts.untakenUntilMs = nowMs + forMs;
  }

  /** Removes one hit. Returns whether to return a permit for it. */
  isTaken(key: string, nowMs: number): boolean {
    const counts = this.#counts.get(key);
    if (counts === undefined) return false;
    forget(counts, nowMs);
    if (counts.untaken > 0) {
      counts.untaken--;
      return false;
    }
    if (counts.taken === 0) return false;
    counts.taken--;
    return true;
  }

  forget(key: string): void {
    this.#counts.delete(key);
  }

  #of(key: string, nowMs: number): Counts {
    const counts = this.#counts.get(key) ?? { taken: 0, takenUntilMs: 0, untaken: 0, untakenUntilMs: 0 };
    forget(counts, nowMs);
    this.#counts.delete(key);
    this.#counts.set(key, counts);
    if (this.#counts.size > MAX_KEYS) this.#counts.delete(this.#counts.keys().next().value!);
    return counts;
  }
}

function forget(counts: Counts, nowMs: number): void {
  if (nowMs >= counts.takenUntilMs) counts.taken = 0;
  if (nowMs >= counts.untakenUntilMs) counts.untaken = 0;
}
