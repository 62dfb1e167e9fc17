/** The limit where every call is to be admitted. */
export const NEVER_REACHED = 1_000_000;

/** Whose calls come in which order: `keys` ids at a time, in turn; a `limit` that denies half, or none that denies. */
export interface LimiterLoad {
  keys: number;
  denies: "none" | "half";
  /** Of each id and span, where half is denied. */
  limit: number;
}

export function limitOf({ denies, limit }: LimiterLoad): number {
  return denies === "none" ? NEVER_REACHED : limit;
}

/**
 * The ids that are visited, and how many of the visits must have been admitted. Half is denied of any stretch of them,
 * not only on the whole: an id is visited 2 × limit times, which are admitted up to the limit, and then gives way to a
 * fresh one; and the ids are at different points of that life.
 *
 *     limit 2   key 0   A A d d | A A d d | …      A admitted, d denied
 *               key 1   A A d | A A d d | A …      (its first id is visited once less)
 *               key 2   A A | A A d d | A A …
 */
export class LimiterVisits {
  readonly #prefix: string;
  readonly #keys: number;
  readonly #limit: number;
  /** Visits of an id. */
  readonly #life: number;
  visits = 0;
  /** Visits that are within the limit of their id, in whatever order the visits of one id are decided. */
  due = 0;

  /** Limiters whose clients name keys alike do not meet where their visits' prefixes differ. */
  constructor(load: LimiterLoad, prefix: string) {
    this.#prefix = prefix;
    this.#keys = load.keys;
    this.#limit = limitOf(load);
    this.#life = 2 * this.#limit;
  }

  next(): string {
    const key = this.visits % this.#keys;
    const visit = Math.floor(this.visits++ / this.#keys);
    const headStart = key % this.#life;
    const generation = Math.floor((visit + headStart) / this.#life);
    // The first id of a key was not visited in its head start.
    const rank = generation === 0 ? visit : (visit + headStart) % this.#life;
    if (rank < this.#limit) this.due++;
    return `${this.#prefix} ${key} ${generation}`;
  }

  /** Visits after which the first ids have spent their limits: from then on half is denied. */
  get warmUp(): number {
    return this.#keys * (this.#limit === NEVER_REACHED ? 1 : this.#limit);
  }

  /** Visits after which, of any one id, half were denied. */
  get wholeLife(): number {
    return this.#limit === NEVER_REACHED ? 1 : this.#life;
  }
}
