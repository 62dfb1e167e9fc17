/** Hits of one key in one process: those that took a permit, and those that did not; each until the limiter forgets them. */
interface Counts {
  taken: number;
  takenUntilMs: number;
  untaken: number;
  untakenUntilMs: number;
}

/** Keys that are counted at a time, some 20 MB of the longest; of more, the one that was quiet for longest goes. */
const MOST_KEYS = 50_000;

/**
 * Knows which hits may be given back: express-rate-limit counts a denied request as a hit and takes it back as any other,
 * and a limiter took nothing for it. So hits that took nothing are taken back first: then what stands is what a store would
 * have that counts them all, and no more is given back than was taken. Of a key that is not counted, nothing is.
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

  /** Whether one hit less is a permit to be given back. */
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
    if (this.#counts.size > MOST_KEYS) this.#counts.delete(this.#counts.keys().next().value!);
    return counts;
  }
}

function forget(counts: Counts, nowMs: number): void {
  if (nowMs >= counts.takenUntilMs) counts.taken = 0;
  if (nowMs >= counts.untakenUntilMs) counts.untaken = 0;
}
