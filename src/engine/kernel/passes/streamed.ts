import type { Source, Streamed } from "../contract.ts";
import { valuesInside } from "../readers.ts";
import { bracketOf, type SampledBracket, sampleIndexes, sampleSize } from "./bracket.ts";
import { Merge } from "./merge.ts";
import { numberPair, type Tally } from "./narrow.ts";
import type { Collected, Passes } from "./passes.ts";

/** With fewer sampled values inside, or fewer pairs, a copy of the values inside is faster. */
const MIN_SAMPLED = 200;
const MIN_PAIRS = 16_384;
/** Maximum number of values in a piece (assembly/README.md). */
const MAX_PIECE = 5 * 4096;

/**
 * Computes everything in one pass over the source. Each piece stays in the processor's cache while it is masked and
 * folded, and while the values around each of `shares` (0 to 1) are counted and collected. `ranksOf` returns the rank of
 * each share, for a count of numbers. Null if a copy is the better way.
 */
export function streamed<H>(
  passes: Passes<H>,
  source: Source,
  shares: readonly number[],
  ranksOf: (numbers: number) => readonly number[],
): Streamed | null {
  if (source.end - source.begin < MIN_PAIRS) return null;
  const brackets = shares.length === 0 ? [] : bracketsOf(passes, source, shares);
  if (brackets === null) return null;
  const merge = new Merge();
  const capacity = capacityOf(source, shares);
  const stream = passes.stream(source, shares.length, capacity);
  const probes = brackets.map((bracket, i) => new Probe<H>(bracket, stream.piles[i] as H, capacity));
  let mean = Number.NaN;
  for (let at = stream.next(); at !== null; at = stream.next()) {
    const { piece, count } = at;
    mean = passes.fold(piece, mean, (block) => merge.add(block));
    for (const probe of probes) probe.take(passes, piece, count);
  }
  const { summary } = merge;
  if (summary === null) return null;
  const numbers = summary.count - summary.nanCount;
  if (numbers === 0) return { summary, pairs: shares.map(() => [Number.NaN, Number.NaN]) };
  const ranks = ranksOf(numbers);
  const pairs = probes.map((probe, i) => {
    const pair = probe.pair(passes, summary.nanCount, numbers, ranks[i]!);
    if (pair === null || (pair[0] !== 0 && pair[1] !== 0)) return pair;
    // Comparisons treat -0 and +0 as equal. If there are both, only a copy can be searched for the sign.
    if (merge.negativeZero && merge.positiveZero) return null;
    const zero = merge.negativeZero ? -0 : 0;
    return pair.map((x) => (x === 0 ? zero : x)) as [number, number];
  });
  return { summary, pairs };
}

/** The brackets from a sample of the values inside; null if too few are inside, or one is NaN. */
function bracketsOf<H>(passes: Passes<H>, source: Source, shares: readonly number[]): SampledBracket[] | null {
  const { begin, end } = source;
  const size = sampleSize(end - begin, shares);
  const sample = valuesInside(source, sampleIndexes(size, end - begin, 1));
  if (sample.length < MIN_SAMPLED) return null;
  const sorted = passes.sorted(passes.hold(sample));
  if (Number.isNaN(sorted.at(-1))) return null;
  return shares.map((share) => bracketOf(sorted, share));
}

/** Twice the expected number of values inside the widest bracket, plus a piece. */
function capacityOf({ begin, end }: Source, shares: readonly number[]): number {
  const size = sampleSize(end - begin, shares);
  const widest = Math.max(0, ...shares.map((share) => Math.sqrt(share * (1 - share))));
  const expected = (end - begin) * ((6.4 * widest) / Math.sqrt(size) + 6 / size);
  return Math.ceil(2 * expected) + MAX_PIECE;
}

/** Counts and collects the values around one bracket, piece by piece. */
class Probe<H> {
  readonly #bracket: SampledBracket;
  readonly #capacity: number;
  readonly #tally: Tally<H>;
  #isFull = false;

  constructor(bracket: SampledBracket, pile: H, capacity: number) {
    this.#bracket = bracket;
    this.#capacity = capacity;
    this.#tally = { lowBelow: 0, below: 0, upTo: 0, highUpTo: 0, inside: pile };
  }

  take(passes: Passes<H>, piece: H, count: number): void {
    const { low, high, first, last } = this.#bracket;
    const tally = this.#tally;
    const single = first > last && low === high;
    // Counts NaN as below. `pair` subtracts it.
    if (first > low || single) {
      const { below, equal, above } = passes.rank(piece, low);
      const nan = count - below - equal - above;
      tally.lowBelow += below + nan;
      if (single) {
        tally.below += below + equal + nan;
        return;
      }
    }
    if (this.#isFull || tally.upTo - tally.below + count > this.#capacity) {
      this.#isFull = true;
      return;
    }
    const collected: Collected<H> = passes.append(piece, first, last, tally.inside);
    tally.inside = collected.inside;
    if (first === low) tally.lowBelow += collected.below;
    tally.below += collected.below;
    tally.upTo += collected.below + collected.count;
    tally.highUpTo += last < high ? passes.rank(piece, high).equal : 0;
  }

  pair(passes: Passes<H>, nanCount: number, numbers: number, k: number): [number, number] | null {
    if (this.#isFull) return null;
    const { lowBelow, below, upTo, highUpTo, inside } = this.#tally;
    const single = this.#bracket.first > this.#bracket.last && this.#bracket.low === this.#bracket.high;
    const limit = single ? below : upTo;
    const tally: Tally<H> = {
      lowBelow: lowBelow - nanCount,
      below: below - nanCount,
      upTo: limit - nanCount,
      highUpTo: limit - nanCount + highUpTo,
      inside,
    };
    return numberPair(passes, tally, this.#bracket, numbers, k);
  }
}
