import { activeKernel } from "../../kernel/choose.ts";
import type { CachedAggregate } from "./run.ts";
import { PLACE_INTS, PLACE_SLOTS, type Run } from "./run.ts";
import { lowerBound, quickselect, selectInRuns, upperBound } from "./select-runs.ts";

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

  /** As `selectInRuns` over the aggregate's and the other runs, `count` values in all, for percentile `p`. */
  select(aggregate: CachedAggregate, runs: readonly Run[], count: number, k: number, p: number): [number, number] {
    if (count < WORTH_IT) return selectInRuns([...aggregate.runs, ...runs], k);
    const place = this.#placeOf(p);
    const found = place.bracket?.select(aggregate, runs, count, k);
    if (found) {
      place.hits++;
      return found;
    }
    return this.#miss(place, aggregate, runs, count, k);
  }

  #miss(place: Place, aggregate: CachedAggregate, runs: readonly Run[], count: number, k: number): [number, number] {
    const all = [...aggregate.runs, ...runs];
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
    return place.bracket.select(aggregate, runs, count, k) ?? selectInRuns(all, k);
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

/** Candidates around the aggregate that are put in order one by one; more are selected from with the aggregate's. */
const FEW = 64;

/** Tells one drawing of a bracket from every other. */
let versions = 0;
/** Used anew by each call: candidates of the runs around the aggregate, then all of them. */
let scratch = new Float64Array(1024);

/**
 * Two values, low and high, and what lies where, from which a rank between them is answered exactly:
 *
 *   values   | below low |  = low  | candidates, in order | = high |  above
 *   ranks    0         below     upToLow               belowHigh  upTo
 *
 * The counts and candidates of the aggregate's runs are kept, those of the runs around it are taken anew, from places that
 * runs which never change keep. It decides nothing: a rank outside has to be looked for elsewhere.
 */
class Bracket {
  readonly low: number;
  readonly high: number;
  readonly #version = ++versions;
  readonly #slot: number;
  #aggregateId = 0;
  readonly #aggregateCounts = new Int32Array(4);
  #cachedCandidates = new Float64Array(0);
  readonly #counts = new Int32Array(4);
  readonly #places = new Int32Array(PLACE_INTS);
  #around = 0;

  /** `slot`: a number that few other brackets over the same runs have. */
  constructor(low: number, high: number, slot: number) {
    this.low = low;
    this.high = high;
    this.#slot = (slot % PLACE_SLOTS) * PLACE_INTS;
  }

  /** The values of ranks k and k + 1 (`count` values: k again at the end); undefined when one lies outside. */
  select(aggregate: CachedAggregate, runs: readonly Run[], count: number, k: number): [number, number] | undefined {
    if (this.#aggregateId !== aggregate.id) this.#settle(aggregate);
    this.#count(runs);
    const next = Math.min(k + 1, count - 1);
    const [below, , , upTo] = this.#counts;
    if (k < below || next >= upTo) return undefined;
    const isMany = this.#around > FEW;
    if (isMany) this.#gather();
    else insertionSort(scratch, this.#around);
    return [this.#at(k, isMany), this.#at(next, isMany)];
  }

  #at(rank: number, unsorted: boolean): number {
    const [, upToLow, belowHigh] = this.#counts;
    if (rank < upToLow) return this.low;
    if (rank >= belowHigh) return this.high;
    return unsorted ? quickselect(scratch, rank - upToLow, this.#around) : this.#merged(rank - upToLow);
  }

  /** Counts what the aggregate's runs hold, and puts their candidates in order. */
  #settle(aggregate: CachedAggregate): void {
    this.#aggregateId = aggregate.id;
    this.#aggregateCounts.fill(0);
    this.#around = 0;
    for (const run of aggregate.runs) this.#take(run, this.#look(run, this.#places, 0), 0, this.#aggregateCounts);
    this.#cachedCandidates = scratch.slice(0, this.#around);
    activeKernel().sort(this.#cachedCandidates);
  }

  #count(runs: readonly Run[]): void {
    this.#counts.set(this.#aggregateCounts);
    this.#around = 0;
    for (let r = 0; r < runs.length; r++) {
      const run = runs[r];
      if (run.changes) this.#take(run, this.#look(run, this.#places, 0), 0, this.#counts);
      else {
        const { places } = run;
        if (places[this.#slot] !== this.#version) this.#look(run, places, this.#slot);
        this.#take(run, places, this.#slot, this.#counts);
      }
    }
  }

  /** Writes the version and the four places at which the bracket cuts the run. */
  #look({ sorted, length }: Run, places: Int32Array, at: number): Int32Array {
    const { low, high } = this;
    const below = lowerBound(sorted, low, 0, length);
    const upToLow = below < length && sorted[below] === low ? upperBound(sorted, low, below, length) : below;
    const belowHigh = Math.max(upToLow, lowerBound(sorted, high, upToLow, length));
    const isThere = belowHigh < length && sorted[belowHigh] === high;
    places[at] = this.#version;
    places[at + 1] = below;
    places[at + 2] = upToLow;
    places[at + 3] = belowHigh;
    places[at + 4] = isThere ? upperBound(sorted, high, belowHigh, length) : belowHigh;
    return places;
  }

  /** Adds a run's places to the counts, and its candidates to the scratch. */
  #take({ sorted }: Run, places: Int32Array, at: number, counts: Int32Array): void {
    const from = places[at + 2];
    const to = places[at + 3];
    counts[0] += places[at + 1];
    counts[1] += from;
    counts[2] += to;
    counts[3] += places[at + 4];
    if (this.#around + to - from > scratch.length) scratch = enlarged(scratch, this.#around + to - from);
    for (let i = from; i < to; i++) scratch[this.#around++] = sorted[i];
  }

  /** Rank among the aggregate's candidates and those around it, both in order. */
  #merged(rank: number): number {
    const cachedCandidates = this.#cachedCandidates;
    // How many of those around come before the rank: the place of one is its own plus the aggregate's up to it.
    let low = Math.max(0, rank - cachedCandidates.length);
    let high = Math.min(this.#around, rank + 1);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const place = middle + upperBound(cachedCandidates, scratch[middle]);
      if (place === rank) return scratch[middle];
      if (place < rank) low = middle + 1;
      else high = middle;
    }
    return cachedCandidates[rank - low];
  }

  /** Puts the aggregate's candidates behind those around it, to be selected from together. */
  #gather(): void {
    const count = this.#around + this.#cachedCandidates.length;
    if (count > scratch.length) scratch = enlarged(scratch, count);
    scratch.set(this.#cachedCandidates, this.#around);
    this.#around = count;
  }
}

function enlarged(values: Float64Array, least: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * least);
  larger.set(values);
  return larger;
}

function insertionSort(values: Float64Array, count: number): void {
  for (let i = 1; i < count; i++) {
    const value = values[i];
    let j = i - 1;
    for (; j >= 0 && values[j] > value; j--) values[j + 1] = values[j];
    values[j + 1] = value;
  }
}
