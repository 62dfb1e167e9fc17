import { GROUP, MAX_IN_BLOCK } from "../../../generated/layouts/block.ts";
import { decodeGroups } from "../../kernel/blocks/block.ts";
import type { BlockDecoder } from "../../kernel/blocks/contract.ts";
import { runKernel } from "../../kernel/choose.ts";
import type { Column } from "../../kernel/contract.ts";
import { sortedColumn } from "../../stats/live/value-range.ts";
import { lowerBound, upperBound } from "../../stats/runs/run.ts";
import { type BlockRanks, type OutlinedBlock, ranksOf } from "./outline.ts";

/** Groups `first` to `last` - 1 of a block, and their bytes in its body. */
export interface Groups {
  first: number;
  last: number;
  from: number;
  length: number;
}

/** Groups of a block that were fetched, and their values in ascending order. */
interface Fetched extends Groups {
  values: Column;
}

interface SearchedBlock extends BlockRanks {
  readonly block: OutlinedBlock;
  readonly fetched: Fetched[];
}

/** Values between which the numbers of some ranks are expected. */
export interface Bracket {
  low: number;
  high: number;
}

/** Standard deviation of the number of values between a sample and a value, as a share of a group. */
const DEVIATION = 0.29;
const DEVIATIONS = 6;
const HARMONICS = 8;

/**
 * Finds numbers by rank among the values of many blocks, of which only the heads are known. Each 32nd value of a block stands in
 * its head. These samples bound the number of a rank, so few groups of values are needed. A wrong guess is noticed, because the
 * counts of values below and inside a bracket are exact once its groups are here. Then the bound that always holds is used.
 */
export class RankSearch {
  readonly #blocks: SearchedBlock[] = [];
  readonly #ofBlock = new Map<OutlinedBlock, SearchedBlock>();
  readonly #groups = new Map<Bracket, readonly Groups[]>();
  /** Blocks that must be fetched whole, because their heads do not say where their numbers are. */
  readonly unsearched: OutlinedBlock[] = [];
  /** Columns of numbers that need no search. Each column is in ascending order. */
  readonly #known: Column[] = [];
  #samples: Column | undefined;
  #listCount = 0;
  /** Number of values that the samples stand for. */
  #total = 0;

  addBlock(block: OutlinedBlock): void {
    const ranks = ranksOf(block);
    if (!ranks) {
      this.unsearched.push(block);
      return;
    }
    const { exceptions, outline, regular } = ranks;
    const searched = { exceptions, outline, regular, block, fetched: [] };
    this.#blocks.push(searched);
    this.#ofBlock.set(block, searched);
    if (exceptions.length > 0) this.addKnown(exceptions.slice().sort());
  }

  /** `sorted`: numbers in ascending order, without NaN. */
  addKnown(sorted: Column): void {
    if (sorted.length > 0) this.#known.push(sorted);
  }

  /** The groups that these brackets need and that were not fetched. Adjacent groups of one block are joined. `brackets`: in ascending order. */
  missingIn(brackets: readonly Bracket[]): { block: OutlinedBlock; groups: Groups }[] {
    const missing: { block: OutlinedBlock; groups: Groups }[] = [];
    const groupsOf = brackets.map((bracket) => this.#groupsOf(bracket));
    for (const [i, one] of this.#blocks.entries()) {
      let before: { block: OutlinedBlock; groups: Groups } | undefined;
      for (const its of groupsOf) {
        const groups = its[i]!;
        if (groups.first === groups.last || fetchedOf(one, groups.first, groups.last)) continue;
        if (before && groups.first <= before.groups.last) {
          const { first, last } = before.groups;
          before.groups = groupsFrom(one, Math.min(first, groups.first), Math.max(last, groups.last));
        } else {
          before = { block: one.block, groups };
          missing.push(before);
        }
      }
    }
    return missing;
  }

  /** Adds groups that have arrived. Throws CORRUPT. */
  addGroups(codec: BlockDecoder, block: OutlinedBlock, groups: Groups, body: Uint8Array): void {
    const { head, headBytes } = block;
    const { first, last, from, length } = groups;
    const values = decodeGroups(codec, head, headBytes, body, first, last);
    this.#ofBlock.get(block)!.fetched.push({ first, last, from, length, values });
  }

  /** The numbers of ranks `from` to `to`; undefined if the bracket does not have all of them. Its groups must be here. */
  numbersAt(bracket: Bracket, from: number, to: number): Column | undefined {
    const groupsOf = this.#groupsOf(bracket);
    let below = 0;
    let inside: Column | undefined;
    let count = 0;
    // Copied one by one: a view for each block would cost more than its few numbers.
    const addSorted = (sorted: Column, start: number, end: number) => {
      inside ??= new (sorted.constructor as Float32ArrayConstructor)(this.#roomFor(groupsOf));
      const first = lowerBound(sorted, bracket.low, start, end);
      const last = upperBound(sorted, bracket.high, first, end);
      below += first - start;
      for (let i = first; i < last; i++) inside[count++] = sorted[i]!;
    };
    for (const sorted of this.#known) addSorted(sorted, 0, sorted.length);
    for (const [i, one] of this.#blocks.entries()) {
      const { first, last } = groupsOf[i]!;
      below += first * GROUP;
      if (first === last) continue;
      const found = fetchedOf(one, first, last)!;
      const { length } = found.values;
      addSorted(found.values, (first - found.first) * GROUP, Math.min(length, (last - found.first) * GROUP));
    }
    if (from < below || to >= below + count) return undefined;
    const sorted = inside!.subarray(0, count);
    runKernel().sort(sorted);
    return sorted.subarray(from - below, to - below + 1);
  }

  /** The most numbers that some groups and the known columns have. */
  #roomFor(groupsOf: readonly Groups[]): number {
    let room = 0;
    for (const { length } of this.#known) room += length;
    for (const { first, last } of groupsOf) room += (last - first) * GROUP;
    return room;
  }

  /** The groups of each block that can have values of the bracket. All blocks must have been added. */
  #groupsOf(bracket: Bracket): readonly Groups[] {
    let groups = this.#groups.get(bracket);
    if (!groups) {
      groups = this.#blocks.map((one) => groupsIn(one, bracket));
      this.#groups.set(bracket, groups);
    }
    return groups;
  }

  /** The samples of all blocks and each 32nd known number, in ascending order. They are kept, so that brackets stay the same. */
  get #sorted(): Column {
    if (this.#samples) return this.#samples;
    const lists = [
      ...this.#blocks.map(({ outline }) => outline.least),
      ...this.#known.map((sorted) => sorted.filter((_, i) => i % GROUP === 0)),
    ];
    this.#samples = sortedColumn(lists);
    this.#listCount = lists.length;
    for (const { regular } of this.#blocks) this.#total += regular;
    for (const { length } of this.#known) this.#total += length;
    return this.#samples;
  }

  /**
   * Values between which the numbers of ranks `from` to `to` are expected, or surely are. `uncertain`: how many numbers may be
   * added after the first call.
   *
   * A list of n values has a sample for each 32 of them. So the sample at index j has at most 32 j values below it, and at least
   * 32 (j + 1 - lists) up to it. The expected index lies in the middle, with a deviation of 0.29 samples for each list, or where
   * it lies if all blocks are alike. Ranks behind the last samples are expected behind all samples but a few, and have no upper bound.
   */
  bracket(from: number, to: number, uncertain: number, isSure: boolean): Bracket {
    const samples = this.#sorted;
    const lists = this.#listCount;
    const margin = DEVIATIONS * DEVIATION * Math.sqrt(lists) + 1;
    const least = (from - uncertain) / GROUP;
    const most = (to + uncertain) / GROUP + lists;
    const bias = this.#blocks.length * biasOf((from + to) / 2 / this.#total);
    const first = isSure
      ? least
      : Math.max(least, Math.min(samples.length, least + lists / 2 + Math.min(0, bias)) - margin);
    const last = isSure ? most : Math.min(most, most - lists / 2 + margin + Math.max(0, bias));
    const low = samples[Math.floor(first)] ?? Number.NEGATIVE_INFINITY;
    const high = samples[Math.ceil(last)] ?? Number.POSITIVE_INFINITY;
    // -0 and +0 compare as equal, so both are inside or outside.
    return { low: low === 0 ? -Number.MIN_VALUE : low, high: high === 0 ? Number.MIN_VALUE : high };
  }
}

/**
 * R is the rank of a share in a full block, of which the values are alike in all blocks. This is how far the mean of ceil(R / 32)
 * lies from R / 32 + 1/2: the Fourier series of the difference, damped by the deviation of R.
 */
function biasOf(share: number): number {
  const place = (MAX_IN_BLOCK * share) / GROUP;
  const deviation = Math.sqrt(MAX_IN_BLOCK * share * (1 - share)) / GROUP;
  let bias = 0;
  for (let k = 1; k <= HARMONICS; k++)
    bias += (Math.sin(2 * Math.PI * k * place) / (Math.PI * k)) * Math.exp(-2 * (Math.PI * k * deviation) ** 2);
  return Number.isFinite(bias) ? bias : 0;
}

/** The groups that can have values from `low` to `high`. All values of groups before them are below `low`. */
function groupsIn(one: SearchedBlock, { low, high }: Bracket): Groups {
  const { outline, block, regular } = one;
  const { least } = outline;
  const groups = Math.ceil(regular / GROUP);
  let first = Math.max(0, lowerBound(least, low) - 1);
  // The smallest value of a group lies up to 2^shift steps above its sample, but below a larger sample.
  if (block.head.shift > 0) first = Math.max(0, lowerBound(least, least[first]!) - 1);
  const last = Math.min(groups, Math.max(first, upperBound(least, high)));
  return groupsFrom(one, first, last);
}

function groupsFrom({ outline }: SearchedBlock, first: number, last: number): Groups {
  const from = outline.places[first]!;
  return { first, last, from, length: outline.places[last]! - from };
}

/** The fetched groups that have all groups from `first` to `last` - 1. */
function fetchedOf({ fetched }: SearchedBlock, first: number, last: number): Fetched | undefined {
  return fetched.find((one) => one.first <= first && one.last >= last);
}
