import type { Source, Streamed } from "../contract.ts";
import { valuesInside } from "../readers.ts";
import { type Bracket, bracketOf, drawPlaces, sampleSize } from "./bracket.ts";
import { Merge } from "./merge.ts";
import type { Collected, Passes } from "./passes.ts";
import { numberPair, type Tally } from "./tally.ts";

/** Below so many values drawn inside, or pairs given, a copy of what is inside is the quicker way. */
const LEAST_DRAWN = 200;
const LEAST_PAIRS = 16_384;
/** A piece has at most so many values (assembly/README.md). */
const PIECE = 5 * 4096;

/**
 * All of it in one walk, piece by piece while a piece lies in the cache: mask, fold, and for each of `shares` (0 to 1) count
 * and collect around it. `ranksOf`: the rank k wanted of each among so many numbers. Null where a copy is the better way.
 */
export function streamed<H>(
  passes: Passes<H>,
  source: Source,
  shares: readonly number[],
  ranksOf: (numbers: number) => readonly number[],
): Streamed | null {
  if (source.end - source.begin < LEAST_PAIRS) return null;
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
    // Comparisons take -0 for +0: where there are both, a column has to be counted.
    if (merge.negativeZero && merge.positiveZero) return null;
    const zero = merge.negativeZero ? -0 : 0;
    return pair.map((x) => (x === 0 ? zero : x)) as [number, number];
  });
  return { summary, pairs };
}

/** Drawn outside WebAssembly, from what is inside the window; null where too little is, or a NaN. */
function bracketsOf<H>(passes: Passes<H>, source: Source, shares: readonly number[]): Bracket[] | null {
  const { begin, end } = source;
  const size = sampleSize(end - begin, shares);
  const sample = valuesInside(source, drawPlaces(size, end - begin, 1));
  if (sample.length < LEAST_DRAWN) return null;
  const sorted = passes.sorted(passes.hold(sample));
  if (Number.isNaN(sorted.at(-1))) return null;
  return shares.map((share) => bracketOf(sorted, share));
}

/** Twice what is to be expected inside the widest bracket, and a piece. */
function capacityOf({ begin, end }: Source, shares: readonly number[]): number {
  const size = sampleSize(end - begin, shares);
  const widest = Math.max(0, ...shares.map((share) => Math.sqrt(share * (1 - share))));
  const expected = (end - begin) * ((6.4 * widest) / Math.sqrt(size) + 6 / size);
  return Math.ceil(2 * expected) + PIECE;
}

/** Counts and collects around one bracket, piece by piece. */
class Probe<H> {
  readonly #bracket: Bracket;
  readonly #capacity: number;
  readonly #tally: Tally<H>;
  #full = false;

  constructor(bracket: Bracket, pile: H, capacity: number) {
    this.#bracket = bracket;
    this.#capacity = capacity;
    this.#tally = { lowBelow: 0, below: 0, upTo: 0, highUpTo: 0, inside: pile };
  }

  take(passes: Passes<H>, piece: H, count: number): void {
    const { low, high, first, last } = this.#bracket;
    const tally = this.#tally;
    const single = first > last && low === high;
    // NaN counts as below where it is met; `pair` takes it off.
    if (first > low || single) {
      const { below, equal, above } = passes.rank(piece, low);
      const nan = count - below - equal - above;
      tally.lowBelow += below + nan;
      if (single) {
        tally.below += below + equal + nan;
        return;
      }
    }
    if (this.#full || tally.upTo - tally.below + count > this.#capacity) {
      this.#full = true;
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
    if (this.#full) return null;
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
