import type { JournalCopy } from "../../journal/replica/journal-copy.ts";
import type { ChunkOutline, OutlinedBlock } from "../../journal/sealed/outline.ts";
import { type Bracket, RankSearch } from "../../journal/sealed/rank-search.ts";
import { firstRank, RANKS } from "../../journal/steps/server-answer.ts";
import type { ServerMoments } from "../../journal/steps/server-moments.ts";
import type { Summary } from "../../kernel/contract.ts";
import { divideDouble } from "../../kernel/double-double.ts";
import { Accumulator, ColumnRun, type Run } from "../../stats/runs/run.ts";
import { type Closed, isInside } from "../../time.ts";
import type { BlockParts, Wanted } from "./block-parts.ts";
import { ServerFold } from "./server-fold.ts";

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
  async fold(parts: BlockParts): Promise<ServerFold | "changed" | undefined> {
    const fewest = this.#sum.count - this.#sum.nanCount;
    // Numbers that the search gets to know later.
    const uncertain = [...this.#edges, ...this.#search.unsearched].reduce((sum, { head }) => sum + head.count, 0);
    const guesses = this.#percentiles.map((p) =>
      this.#search.bracket(firstRank(fewest, p), firstRank(fewest + uncertain, p) + RANKS - 1, uncertain, false),
    );
    const whole = [...this.#edges, ...this.#search.unsearched];
    const wanted = [...whole.map((block) => this.#partOf(block)), ...this.#groupsOf(guesses)];
    if (!(await parts.fetch(wanted))) return "changed";
    for (const block of this.#edges) this.#addRun(ColumnRun.of(parts.valuesInside(block, this.#isInside)));
    for (const block of this.#search.unsearched) {
      const run = ColumnRun.of(parts.valuesInside(block, () => true));
      this.#search.addKnown(run.part(0, run.length));
    }
    if (!Number.isFinite(this.#sum.sumHigh)) return undefined;
    const ordered = await this.#ordered(parts, guesses, uncertain);
    return Array.isArray(ordered) ? this.#folded(ordered) : ordered;
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

  #folded(ordered: readonly number[]): ServerFold {
    const { count, nanCount, positiveInfinityCount, negativeInfinityCount, min, max, sumHigh, sumLow, m2 } = this.#sum;
    const moments: ServerMoments = {
      count,
      numbers: count - nanCount,
      infinite: positiveInfinityCount,
      negativeInfinite: negativeInfinityCount,
      min,
      max,
      high: sumHigh,
      low: sumLow,
      m2,
      scale: 1,
    };
    return new ServerFold(moments, this.#percentiles, Float64Array.from(ordered));
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

function partialOf(summary: Summary) {
  const { count, nanCount, positiveInfinityCount, negativeInfinityCount, sumHigh, sumLow } = summary;
  const finiteCount = count - nanCount - positiveInfinityCount - negativeInfinityCount;
  const [meanHigh, meanLow] = finiteCount > 0 ? divideDouble(sumHigh, sumLow, finiteCount) : [0, 0];
  return { ...summary, finiteCount, meanHigh, meanLow };
}
