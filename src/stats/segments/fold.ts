import type { Column } from "../../kernel/contract.ts";
import { meanOf } from "../../kernel/double-double.ts";
import { withInfinities } from "../../kernel/moments.ts";
import type { Brackets } from "../runs/brackets.ts";
import type { Core } from "../runs/part-sum.ts";
import { PartSum, scaledMoments } from "../runs/part-sum.ts";
import type { Run, Sorted } from "../runs/run.ts";
import { lowerBound, selectInRuns } from "../runs/select-runs.ts";

/** All of one window: a core, where one is known, and the runs around it. */
export class Fold {
  readonly #sum = new PartSum();
  readonly #core: Core | undefined;
  readonly #brackets: Brackets | undefined;
  readonly #runs: Run[] = [];

  /** `brackets`: where percentiles lay when a window with a core was last asked for. */
  constructor(core?: Core, brackets?: Brackets) {
    this.#core = core;
    this.#brackets = brackets;
    if (core) this.#sum.add(core.part);
  }

  /** `run` must stay as it is until the last answer. */
  add(run: Run): void {
    this.#sum.add(run);
    this.#runs.push(run);
  }

  get count(): number {
    return this.#sum.count;
  }

  get nanCount(): number {
    return this.#sum.nanCount;
  }

  get min(): number {
    return this.#sum.min;
  }

  get max(): number {
    return this.#sum.max;
  }

  /** Values that are numbers: finite and infinite. */
  get validCount(): number {
    return this.#sum.count - this.#sum.nanCount;
  }

  /** Sum of the numbers; infinities as IEEE adds them. */
  get sum(): number {
    return this.#infinite(this.overflowed ? scaledMoments(this.#columns).sum : this.#sum.sumHigh + this.#sum.sumLow);
  }

  get mean(): number {
    if (this.validCount === 0) return Number.NaN;
    const { sumHigh, sumLow, finiteCount } = this.#sum;
    return this.#infinite(this.overflowed ? scaledMoments(this.#columns).mean : meanOf(sumHigh, sumLow, finiteCount));
  }

  variance(ddof: number): number {
    const { finiteCount } = this.#sum;
    if (finiteCount !== this.validCount || finiteCount - ddof <= 0) return Number.NaN;
    return (this.overflowed ? scaledMoments(this.#columns).m2 : this.#sum.m2) / (finiteCount - ddof);
  }

  /** A sum of finite values left the range of f64: sum, mean and M2 are then made from the runs, scaled down. */
  get overflowed(): boolean {
    return !Number.isFinite(this.#sum.sumHigh);
  }

  /** The sorted runs that hold all of it. */
  get runs(): readonly Sorted[] {
    return this.#core ? [...this.#core.runs, ...this.#runs] : this.#runs;
  }

  get #columns(): Column[] {
    return this.runs.map(({ sorted, length }) => sorted.subarray(0, length));
  }

  /** The order statistics of 0-based ranks k and k + 1 (k again at the end), for percentile `p`, over the numbers; -0 is before +0. */
  at(k: number, p: number): [number, number] {
    const pair =
      this.#core && this.#brackets
        ? this.#brackets.select(this.#core, this.#runs, this.validCount, k, p)
        : selectInRuns(this.runs, k);
    // Comparisons take -0 for +0; where nothing is below +0, there is none.
    if ((pair[0] !== 0 && pair[1] !== 0) || this.min > 0 || Object.is(this.min, 0)) return pair;
    const negative = this.runs.reduce((sum, run) => sum + belowPositiveZero(run), 0);
    const signed = (x: number, rank: number) => (x !== 0 ? x : rank < negative ? -0 : 0);
    return [signed(pair[0], k), signed(pair[1], Math.min(k + 1, this.validCount - 1))];
  }

  /** How many numbers are below `limit`. */
  below(limit: number): number {
    return this.runs.reduce((sum, run) => sum + lowerBound(run.sorted, limit, 0, run.length), 0);
  }

  #infinite(finite: number): number {
    return withInfinities(finite, this.#sum.positiveInfinityCount, this.#sum.negativeInfinityCount);
  }
}

/** Numbers before the first +0, -0 among them. */
function belowPositiveZero({ sorted, length }: Sorted): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle] < 0 || Object.is(sorted[middle], -0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
