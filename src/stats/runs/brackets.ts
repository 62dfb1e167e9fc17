import { Bracket } from "./bracket.ts";
import type { Core } from "./part-sum.ts";
import type { Run } from "./run.ts";
import { selectInRuns } from "./select-runs.ts";

/** Fewer values are selected from at once. */
const WORTH_IT = 4096;
/** Ranks on either side of the one asked for; a bracket that is soon missed is drawn anew wider by 2, up to the widest. */
const FIRST = 256;
const WIDEST = 2048;
/** Hits that make a bracket worth its drawing. */
const WORTH_HITS = 64;
/** Questions that are answered without a bracket after one that was not worth it, up to so many. */
const MOST_RESTS = 64;
/** More than so many percentiles, and the one drawn first is forgotten. */
const MOST_BRACKETS = 32;

interface Place {
  readonly slot: number;
  bracket: Bracket | undefined;
  width: number;
  hits: number;
  rests: number;
  restsLeft: number;
}

/**
 * Where percentiles lay at the last query over one kind of window, by the percentile. A bracket shortens the search and
 * never decides the answer: one that misses costs a search without it, and is drawn anew. Where brackets keep missing,
 * because the window is another at each query, they are left alone for a while.
 */
export class Brackets {
  readonly #places = new Map<number, Place>();
  #slots = 0;

  /** As `selectInRuns` over the core's and the other runs, `count` values in all, for percentile `p`. */
  select(core: Core, runs: readonly Run[], count: number, k: number, p: number): [number, number] {
    if (count < WORTH_IT) return selectInRuns([...core.runs, ...runs], k);
    const place = this.#placeOf(p);
    const found = place.bracket?.select(core, runs, count, k);
    if (found) {
      place.hits++;
      return found;
    }
    return this.#miss(place, core, runs, count, k);
  }

  #miss(place: Place, core: Core, runs: readonly Run[], count: number, k: number): [number, number] {
    const all = [...core.runs, ...runs];
    if (place.bracket) {
      const worth = place.hits >= WORTH_HITS;
      place.rests = worth ? 0 : Math.min(MOST_RESTS, 2 * place.rests + 1);
      place.restsLeft = place.rests;
      if (!worth) place.width = Math.min(WIDEST, place.width * 2);
    }
    place.hits = 0;
    place.bracket = undefined;
    if (place.restsLeft > 0) {
      place.restsLeft--;
      return selectInRuns(all, k);
    }
    place.bracket = draw(all, count, k, place.width, place.slot);
    return place.bracket.select(core, runs, count, k) ?? selectInRuns(all, k);
  }

  #placeOf(p: number): Place {
    let place = this.#places.get(p);
    if (!place) {
      if (this.#places.size >= MOST_BRACKETS) this.#places.delete(this.#places.keys().next().value!);
      place = { slot: this.#slots++, bracket: undefined, width: FIRST, hits: 0, rests: 0, restsLeft: 0 };
      this.#places.set(p, place);
    }
    return place;
  }
}

/** A bracket of `width` ranks to either side of k; what would reach beyond an end has none there. */
function draw(all: readonly Run[], count: number, k: number, width: number, slot: number): Bracket {
  const low = k < width ? Number.NEGATIVE_INFINITY : selectInRuns(all, k - width)[0];
  const high = k + width >= count ? Number.POSITIVE_INFINITY : selectInRuns(all, k + width)[0];
  return new Bracket(low, high, slot);
}
