import { runKernel } from "../../kernel/choose.ts";
import { type CachedAggregate, CUT_SLOTS, INTS_PER_CUT, type Run, upperBound } from "./run.ts";
import { quickselect, selectInRuns } from "./select-runs.ts";

/** A window of fewer values is searched without a bracket. */
const MIN_VALUES = 4096;
/** Ranks on either side of the rank sought. The width doubles when a bracket is missed early, up to the maximum. */
const FIRST_WIDTH = 256;
const MAX_WIDTH = 2048;
/** A bracket with this many hits was worth the cost of computing it. */
const WORTH_HITS = 64;
/** Maximum number of queries that are answered without a bracket after one that was not worth its cost. */
const MAX_PAUSES = 64;
/** Maximum number of percentiles with a bracket. Above it the oldest one is evicted. */
const MAX_PERCENTILES = 32;

/** The bracket of one percentile, and how well its brackets have worked. */
interface TrackedPercentile {
  readonly slot: number;
  bracket: RankBracket | undefined;
  width: number;
  hits: number;
  /** Queries without a bracket after the last early miss, and how many of them are left. */
  pauses: number;
  pausesLeft: number;
}

/**
 * For each percentile, a range of values around its last answer in one kind of window. The next answer is most likely
 * in that range, which shortens the search. A miss costs a search without the range; the answer is exact either way.
 * If the window changes so much that brackets keep missing, none is computed for the next queries.
 */
export class RankBrackets {
  readonly #percentiles = new Map<number, TrackedPercentile>();
  #slots = 0;

  /** `selectInRuns` over the runs of the aggregate and `runs`, `count` values in all, for percentile `p`. */
  select(aggregate: CachedAggregate, runs: readonly Run[], count: number, k: number, p: number): [number, number] {
    if (count < MIN_VALUES) return selectInRuns([...aggregate.runs, ...runs], k);
    const tracked = this.#trackedOf(p);
    const found = tracked.bracket?.select(aggregate, runs, count, k);
    if (found) {
      tracked.hits++;
      return found;
    }
    return this.#selectAfterMiss(tracked, aggregate, runs, count, k);
  }

  #selectAfterMiss(
    tracked: TrackedPercentile,
    aggregate: CachedAggregate,
    runs: readonly Run[],
    count: number,
    k: number,
  ): [number, number] {
    const all = [...aggregate.runs, ...runs];
    if (tracked.bracket) {
      const wasWorthIt = tracked.hits >= WORTH_HITS;
      tracked.pauses = wasWorthIt ? 0 : Math.min(MAX_PAUSES, 2 * tracked.pauses + 1);
      tracked.pausesLeft = tracked.pauses;
      if (!wasWorthIt) tracked.width = Math.min(MAX_WIDTH, tracked.width * 2);
    }
    tracked.hits = 0;
    tracked.bracket = undefined;
    if (tracked.pausesLeft > 0) {
      tracked.pausesLeft--;
      return selectInRuns(all, k);
    }
    tracked.bracket = bracketAround(all, count, k, tracked.width, tracked.slot);
    return tracked.bracket.select(aggregate, runs, count, k) ?? selectInRuns(all, k);
  }

  #trackedOf(p: number): TrackedPercentile {
    const known = this.#percentiles.get(p);
    if (known) return known;
    const [oldest] = this.#percentiles.keys();
    if (oldest !== undefined && this.#percentiles.size >= MAX_PERCENTILES) this.#percentiles.delete(oldest);
    const slot = this.#slots++;
    const tracked = { slot, bracket: undefined, width: FIRST_WIDTH, hits: 0, pauses: 0, pausesLeft: 0 };
    this.#percentiles.set(p, tracked);
    return tracked;
  }
}

/** A bracket of `width` ranks on either side of k. It is unbounded on a side with fewer ranks. */
function bracketAround(all: readonly Run[], count: number, k: number, width: number, slot: number): RankBracket {
  const low = k < width ? Number.NEGATIVE_INFINITY : selectInRuns(all, k - width)[0];
  const high = k + width >= count ? Number.POSITIVE_INFINITY : selectInRuns(all, k + width)[0];
  return new RankBracket(low, high, slot);
}

/** Up to this many candidates outside the aggregate are sorted by insertion. More are selected from, with all others. */
const MAX_INSERTED = 64;

/** Source of version numbers, which are unique to each bracket. */
let versions = 0;
/** Candidates of the current call: those outside the aggregate, then all of them. */
let scratch = new Float64Array(1024);

/** Numbers of values, in the order of the drawing at `RankBracket`. */
interface Counts {
  below: number;
  upToLow: number;
  belowHigh: number;
  upToHigh: number;
}

/**
 * Two values, `low` and `high`, and the number of values in each of the five ranges they make. A rank from `below` to
 * `upToHigh` is answered exactly. Other ranks must be searched elsewhere.
 *
 *   values   | below low |  = low  | candidates, in order | = high  |  above
 *   ranks    0         below     upToLow               belowHigh  upToHigh
 *
 * Counts and candidates of the aggregate are computed once. Those of the other runs are added at each query, from cuts
 * that are cached in the runs, unless the run is transient.
 */
class RankBracket {
  readonly low: number;
  readonly high: number;
  readonly #version = ++versions;
  readonly #slot: number;
  #aggregateId = 0;
  #aggregateCounts: Counts = { below: 0, upToLow: 0, belowHigh: 0, upToHigh: 0 };
  #aggregateCandidates = new Float64Array(0);
  readonly #counts: Counts = { below: 0, upToLow: 0, belowHigh: 0, upToHigh: 0 };
  readonly #cuts = new Int32Array(INTS_PER_CUT);
  /** Number of candidates in `scratch`. */
  #gathered = 0;

  /** `slot`: where runs cache the cuts of this bracket. Brackets with the same slot overwrite each other's cuts. */
  constructor(low: number, high: number, slot: number) {
    this.low = low;
    this.high = high;
    this.#slot = (slot % CUT_SLOTS) * INTS_PER_CUT;
  }

  /** The values at ranks k and k + 1 (k again at the end) of `count` values; undefined if one is outside. */
  select(aggregate: CachedAggregate, runs: readonly Run[], count: number, k: number): [number, number] | undefined {
    if (this.#aggregateId !== aggregate.id) this.#countAggregate(aggregate);
    this.#count(runs);
    const next = Math.min(k + 1, count - 1);
    const { below, upToHigh } = this.#counts;
    if (k < below || next >= upToHigh) return undefined;
    const isUnsorted = this.#gathered > MAX_INSERTED;
    if (isUnsorted) this.#gatherAggregate();
    else insertionSort(scratch, this.#gathered);
    return [this.#at(k, isUnsorted), this.#at(next, isUnsorted)];
  }

  #at(rank: number, isUnsorted: boolean): number {
    const { upToLow, belowHigh } = this.#counts;
    if (rank < upToLow) return this.low;
    if (rank >= belowHigh) return this.high;
    return isUnsorted ? quickselect(scratch, rank - upToLow, this.#gathered) : this.#atMerged(rank - upToLow);
  }

  /** Counts the values of the aggregate, and sorts its candidates. */
  #countAggregate(aggregate: CachedAggregate): void {
    this.#aggregateId = aggregate.id;
    this.#aggregateCounts = { below: 0, upToLow: 0, belowHigh: 0, upToHigh: 0 };
    this.#gathered = 0;
    for (const run of aggregate.runs) this.#addRun(run, this.#cut(run, this.#cuts, 0), 0, this.#aggregateCounts);
    this.#aggregateCandidates = scratch.slice(0, this.#gathered);
    runKernel().sort(this.#aggregateCandidates);
  }

  #count(runs: readonly Run[]): void {
    Object.assign(this.#counts, this.#aggregateCounts);
    this.#gathered = 0;
    for (const run of runs) {
      if (run.isTransient) this.#addRun(run, this.#cut(run, this.#cuts, 0), 0, this.#counts);
      else {
        const { cuts } = run;
        if (cuts[this.#slot] !== this.#version) this.#cut(run, cuts, this.#slot);
        this.#addRun(run, cuts, this.#slot, this.#counts);
      }
    }
  }

  /** Writes the version, and the four indexes at which the bracket cuts the run. */
  #cut(run: Run, cuts: Int32Array, at: number): Int32Array {
    const { low, high } = this;
    const { length } = run;
    const below = run.lowerBound(low, 0, length);
    const upToLow = below < length && run.at(below) === low ? run.upperBound(low, below, length) : below;
    const belowHigh = Math.max(upToLow, run.lowerBound(high, upToLow, length));
    const hasHigh = belowHigh < length && run.at(belowHigh) === high;
    cuts[at] = this.#version;
    cuts[at + 1] = below;
    cuts[at + 2] = upToLow;
    cuts[at + 3] = belowHigh;
    cuts[at + 4] = hasHigh ? run.upperBound(high, belowHigh, length) : belowHigh;
    return cuts;
  }

  /** Adds a run's cuts to the counts, and its candidates to `scratch`. */
  #addRun(run: Run, cuts: Int32Array, at: number, counts: Counts): void {
    const from = cuts[at + 2]!;
    const to = cuts[at + 3]!;
    counts.below += cuts[at + 1]!;
    counts.upToLow += from;
    counts.belowHigh += to;
    counts.upToHigh += cuts[at + 4]!;
    if (this.#gathered + to - from > scratch.length) scratch = enlarged(scratch, this.#gathered + to - from);
    run.copyTo(scratch, this.#gathered, from, to);
    this.#gathered += to - from;
  }

  /** The value at a rank among the sorted candidates of the aggregate and those in `scratch`. */
  #atMerged(rank: number): number {
    const cached = this.#aggregateCandidates;
    // Finds how many values of `scratch` are before the rank, by binary search. The merged rank of scratch[i] is i
    // plus the number of cached candidates up to its value.
    let low = Math.max(0, rank - cached.length);
    let high = Math.min(this.#gathered, rank + 1);
    while (low < high) {
      const middle = (low + high) >>> 1;
      const mergedRank = middle + upperBound(cached, scratch[middle]!);
      if (mergedRank === rank) return scratch[middle]!;
      if (mergedRank < rank) low = middle + 1;
      else high = middle;
    }
    return cached[rank - low]!;
  }

  /** Appends the candidates of the aggregate to `scratch`. */
  #gatherAggregate(): void {
    const count = this.#gathered + this.#aggregateCandidates.length;
    if (count > scratch.length) scratch = enlarged(scratch, count);
    scratch.set(this.#aggregateCandidates, this.#gathered);
    this.#gathered = count;
  }
}

function enlarged(values: Float64Array, minLength: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * minLength);
  larger.set(values);
  return larger;
}

function insertionSort(values: Float64Array, count: number): void {
  for (let i = 1; i < count; i++) {
    const value = values[i]!;
    let j = i - 1;
    for (; j >= 0 && values[j]! > value; j--) values[j + 1] = values[j]!;
    values[j + 1] = value;
  }
}
