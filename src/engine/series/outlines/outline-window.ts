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

/**
 * A window over raw chunks, whose events are here, and sealed chunks, whose outlines are. Blocks inside the window count by their
 * statistics. Blocks that an edge of it cuts are read whole.
 */
export class OutlineWindow {
  readonly fromMs: number;
  readonly toMs: number;
  readonly #closed: Closed;
  readonly #percentiles: readonly number[];
  readonly #sum = new Accumulator();
  readonly #search = new RankSearch();
  readonly #chunkOf = new Map<OutlinedBlock, ChunkOutline>();
  readonly #edges: OutlinedBlock[] = [];

  /** `percentiles`: ascending. */
  constructor(fromMs: number, toMs: number, closed: Closed, percentiles: readonly number[]) {
    this.fromMs = fromMs;
    this.toMs = toMs;
    this.#closed = closed;
    this.#percentiles = percentiles;
  }

  addOutline(outline: ChunkOutline): void {
    if (outline.earliestMs > this.toMs || outline.latestMs < this.fromMs) return;
    const isWhole = this.#hasAll(outline);
    if (isWhole) this.#sum.add(partialOf(outline.summary));
    for (const block of outline.blocks) {
      this.#chunkOf.set(block, outline);
      const { totals } = block;
      const isBlockInside = isWhole || this.#hasAll(totals!);
      if (!isWhole && isBlockInside) this.#sum.add(partialOf(totals!.summary));
      if (isBlockInside && this.#percentiles.length > 0) this.#search.addBlock(block);
      if (!isBlockInside && totals!.latestMs >= this.fromMs && totals!.earliestMs <= this.toMs) this.#edges.push(block);
    }
  }

  addRaw(raw: JournalCopy): void {
    const add = (run: Run) => this.#addRun(run);
    for (const segment of raw.segments.list) segment.collect({ add }, this.fromMs, this.toMs, this.#closed);
  }

  /** "changed" if a sealed chunk is not the outlined one any more; undefined if the sums are too large for an f64. */
  async fold(parts: BlockParts): Promise<OutlineFold | "changed" | undefined> {
    const fewest = this.#sum.count - this.#sum.nanCount;
    const whole = [...this.#edges, ...this.#search.unsearched];
    // Values of blocks that are not searched. How many of them are numbers is known once they are fetched.
    const uncertain = whole.reduce((sum, { head }) => sum + head.count, 0);
    const guesses = this.#percentiles.map((p) =>
      this.#search.bracket(firstRank(fewest, p), firstRank(fewest + uncertain, p) + RANKS - 1, uncertain, false),
    );
    const wanted = [...whole.map((block) => this.#partOf(block)), ...this.#groupsOf(guesses)];
    if (!(await parts.fetch(wanted))) return "changed";
    for (const block of this.#edges) this.#addRun(ColumnRun.of(parts.valuesInside(block, this.#isInside)));
    for (const block of this.#search.unsearched) {
      const run = ColumnRun.of(parts.valuesInside(block, () => true));
      this.#search.addKnown(run.part(0, run.length));
    }
    if (!Number.isFinite(this.#sum.sumHigh)) return undefined;
    const ordered = await this.#ordered(parts, guesses, uncertain);
    return Array.isArray(ordered) ? new OutlineFold(this.#sum, this.#percentiles, ordered) : ordered;
  }

  /** The numbers of the ranks that each percentile can need. */
  async #ordered(
    parts: BlockParts,
    guesses: readonly Bracket[],
    uncertain: number,
  ): Promise<number[] | "changed" | undefined> {
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
      if (!(await parts.fetch(this.#groupsOf(brackets)))) return "changed";
      found = numbersBy(brackets);
      if (found.includes(undefined)) return undefined;
    }
    return ranks.flatMap((its, i) => its.map((rank) => found[i]![rank - its[0]!]!));
  }

  #addRun(run: Run): void {
    this.#sum.add(run);
    this.#search.addKnown(run.part(0, run.length));
  }

  #partOf(block: OutlinedBlock): Wanted {
    return { outline: this.#chunkOf.get(block)!, block, groups: undefined };
  }

  #groupsOf(brackets: readonly Bracket[]): Wanted[] {
    return this.#search
      .missingIn(brackets)
      .map(({ block, groups }) => ({ outline: this.#chunkOf.get(block)!, block, groups, search: this.#search }));
  }

  readonly #isInside = (ms: number): boolean => isInside(ms, this.fromMs, this.toMs, this.#closed);

  #hasAll({ earliestMs, latestMs }: { earliestMs: number; latestMs: number }): boolean {
    return this.#isInside(earliestMs) && this.#isInside(latestMs);
  }
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
