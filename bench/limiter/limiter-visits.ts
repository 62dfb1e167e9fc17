/** A limit that admits every call. */
export const NEVER_REACHED = 1_000_000;

/** The order of the calls: `keys` ids at a time, in turn. The limit denies half of the calls, or none. */
export interface LimiterLoad {
  keys: number;
  denies: "none" | "half";
  /** The limit of each id and span, where half is denied. */
  limit: number;
}

export function limitOf({ denies, limit }: LimiterLoad): number {
  return denies === "none" ? NEVER_REACHED : limit;
}

/**
 * The visited ids, and the number of visits that must have been admitted. Half of the visits are denied, in any stretch of
 * them. An id is visited 2 × limit times, admitted up to the limit, and then replaced by a new id. The ids are at different
 * points of that cycle.
 *
 *     limit 2   key 0   A A d d | A A d d | …      A admitted, d denied
 *               key 1   A A d | A A d d | A …      (its first id has one visit less)
 *               key 2   A A | A A d d | A A …
 */
export class LimiterVisits {
  readonly #prefix: string;
  readonly #keys: number;
  readonly #limit: number;
  /** Visits of an id. */
  readonly #life: number;
  visits = 0;
  /** Visits within the limit of their id, whatever the order of the decisions. */
  due = 0;

  /** Different prefixes keep limiters apart whose clients use the same key names. */
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
    // The first id of a key misses the visits of its head start.
    const rank = generation === 0 ? visit : (visit + headStart) % this.#life;
    if (rank < this.#limit) this.due++;
    return `${this.#prefix} ${key} ${generation}`;
  }

  /** Visits after which the first ids have spent their limits. From then on half of the visits are denied. */
  get warmUp(): number {
    return this.#keys * (this.#limit === NEVER_REACHED ? 1 : this.#limit);
  }

  /** Visits after which, of any one id, half were denied. */
  get wholeLife(): number {
    return this.#limit === NEVER_REACHED ? 1 : this.#life;
  }
}
