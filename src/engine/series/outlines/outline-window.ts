import { type Closed, isInside } from "../../../base/time.ts";
import type { JournalCopy } from "../../journal/replica/journal-copy.ts";
import type { ChunkOutline, OutlinedBlock } from "../../journal/sealed/outline.ts";
import { type Bracket, RankSearch } from "../../journal/sealed/rank-search.ts";
import type { Summary } from "../../kernel/contract.ts";
import { divideDouble } from "../../kernel/double-double.ts";
import { Accumulator, CachedAggregate, ColumnRun, type Run } from "../../stats/runs/run.ts";
import { Fold } from "../../stats/window-stats.ts";
import type { BlockParts, Wanted } from "./block-parts.ts";

/** Number of ranks that are searched for each percentile, around floor(numbers * p / 100). No method needs another one. */
const RANKS = 5;

/** The first of these ranks. */
function firstRank(numbers: number, p: number): number {
  return Math.floor((numbers * p) / 100) - 2;
}

/** The window of one journal: raw chunks, whose events are here, and sealed chunks, whose outlines are. */
export interface OutlinedJournal {
  fromMs: number;
  toMs: number;
  closed: Closed;
  /** Of its sealed chunks. */
  outlines: readonly ChunkOutline[];
  raw: JournalCopy;
  parts: BlockParts;
}

/**
 * The window of one journal, or of several that are answered as one. Blocks inside the window count by their statistics. Blocks that an
 * edge of it cuts are read whole.
 */
export class OutlineWindow {
  readonly #percentiles: readonly number[];
  readonly #sum = new Accumulator();
  readonly #search = new RankSearch();
  readonly #chunkOf = new Map<OutlinedBlock, { outline: ChunkOutline; journal: OutlinedJournal }>();
  readonly #edges: OutlinedBlock[] = [];

  constructor(percentiles: readonly number[]) {
    this.#percentiles = [...new Set(percentiles)].sort((a, b) => a - b);
  }

  add(journal: OutlinedJournal): void {
    const { fromMs, toMs, closed, outlines, raw } = journal;
    const hasAll = (part: { earliestMs: number; latestMs: number }) =>
      isInside(part.earliestMs, fromMs, toMs, closed) && isInside(part.latestMs, fromMs, toMs, closed);
    for (const outline of outlines) {
      if (outline.earliestMs > toMs || outline.latestMs < fromMs) continue;
      const isWhole = hasAll(outline);
      if (isWhole) this.#sum.add(partialOf(outline.summary));
      for (const block of outline.blocks) {
        this.#chunkOf.set(block, { outline, journal });
        const { totals } = block;
        const isBlockInside = isWhole || hasAll(totals!);
        if (!isWhole && isBlockInside) this.#sum.add(partialOf(totals!.summary));
        if (isBlockInside && this.#percentiles.length > 0) this.#search.addBlock(block);
        if (!isBlockInside && totals!.latestMs >= fromMs && totals!.earliestMs <= toMs) this.#edges.push(block);
      }
    }
    const add = (run: Run) => this.addRun(run);
    for (const segment of raw.segments.list) segment.collect({ add }, fromMs, toMs, closed);
  }

  /** Adds events that are here. */
  addRun(run: Run): void {
    this.#sum.add(run);
    this.#search.addKnown(run.part(0, run.length));
  }

  /** "changed" if a sealed chunk is not the outlined one any more; undefined if the sums are too large for an f64. */
  async fold(): Promise<OutlineFold | "changed" | undefined> {
    const fewest = this.#sum.count - this.#sum.nanCount;
    const whole = [...this.#edges, ...this.#search.unsearched];
    // Values of blocks that are not searched. How many of them are numbers is known once they are fetched.
    const uncertain = whole.reduce((sum, { head }) => sum + head.count, 0);
    const guesses = this.#percentiles.map((p) =>
      this.#search.bracket(firstRank(fewest, p), firstRank(fewest + uncertain, p) + RANKS - 1, uncertain, false),
    );
    const wanted = [...whole.map((block) => this.#partOf(block)), ...this.#groupsOf(guesses)];
    if (!(await fetchAll(wanted))) return "changed";
    for (const block of this.#edges) {
      const { fromMs, toMs, closed, parts } = this.#chunkOf.get(block)!.journal;
      this.addRun(ColumnRun.of(parts.valuesInside(block, (ms) => isInside(ms, fromMs, toMs, closed))));
    }
    for (const block of this.#search.unsearched) {
      const run = ColumnRun.of(this.#chunkOf.get(block)!.journal.parts.valuesInside(block, () => true));
      this.#search.addKnown(run.part(0, run.length));
    }
    if (!Number.isFinite(this.#sum.sumHigh)) return undefined;
    const ordered = await this.#ordered(guesses, uncertain);
    return Array.isArray(ordered) ? new OutlineFold(this.#sum, this.#percentiles, ordered) : ordered;
  }

  /** The numbers of the ranks that each percentile can need. */
  async #ordered(guesses: readonly Bracket[], uncertain: number): Promise<number[] | "changed" | undefined> {
    const numbers = this.#sum.count - this.#sum.nanCount;
    if (numbers === 0) return [];
    const ranks = this.#percentiles.map((p) =>
      Array.from({ length: RANKS }, (_, k) => Math.max(0, Math.min(numbers - 1, firstRank(numbers, p) + k))),
    );
    const numbersBy = (brackets: readonly Bracket[]) =>
      ranks.map((its, i) => this.#search.numbersAt(brackets[i]!, its[0]!, its[RANKS - 1]!));
    let found = numbersBy(guesses);
    if (found.includes(undefined)) {
      const brackets = ranks.map((its, i) =>
        found[i] ? guesses[i]! : this.#search.bracket(its[0]!, its[RANKS - 1]!, uncertain, true),
      );
      if (!(await fetchAll(this.#groupsOf(brackets)))) return "changed";
      found = numbersBy(brackets);
      if (found.includes(undefined)) return undefined;
    }
    return ranks.flatMap((its, i) => its.map((rank) => found[i]![rank - its[0]!]!));
  }

  #partOf(block: OutlinedBlock): WantedOf {
    return { ...this.#chunkOf.get(block)!, block, groups: undefined };
  }

  #groupsOf(brackets: readonly Bracket[]): WantedOf[] {
    return this.#search
      .missingIn(brackets)
      .map(({ block, groups }) => ({ ...this.#chunkOf.get(block)!, block, groups, search: this.#search }));
  }
}

interface WantedOf extends Wanted {
  journal: OutlinedJournal;
}

/** Requests the parts of all journals at once. False if a chunk is not the outlined one any more. */
async function fetchAll(wanted: readonly WantedOf[]): Promise<boolean> {
  const all = new Map<BlockParts, Wanted[]>();
  for (const one of wanted) {
    const { parts } = one.journal;
    const its = all.get(parts);
    if (its) its.push(one);
    else all.set(parts, [one]);
  }
  const found = await Promise.all([...all].map(([parts, its]) => parts.fetch(its)));
  return !found.includes(false);
}

/** The aggregates of a window. Only the values at some ranks are known, `RANKS` for each of `percentiles`. */
class OutlineFold extends Fold {
  readonly #percentiles: readonly number[];
  readonly #ordered: readonly number[];

  constructor(sum: Accumulator, percentiles: readonly number[], ordered: readonly number[]) {
    super(new CachedAggregate([], sum.toPartial()));
    this.#percentiles = percentiles;
    this.#ordered = ordered;
  }

  override valuesAt(k: number, p: number): [number, number] {
    const offset = k - firstRank(this.validCount, p);
    const from = this.#percentiles.indexOf(p) * RANKS;
    return [this.#ordered[from + offset]!, this.#ordered[from + Math.min(offset + 1, RANKS - 1)]!];
  }
}

function partialOf(summary: Summary) {
  const { count, nanCount, positiveInfinityCount, negativeInfinityCount, sumHigh, sumLow } = summary;
  const finiteCount = count - nanCount - positiveInfinityCount - negativeInfinityCount;
  const [meanHigh, meanLow] = finiteCount > 0 ? divideDouble(sumHigh, sumLow, finiteCount) : [0, 0];
  return { ...summary, finiteCount, meanHigh, meanLow };
}
