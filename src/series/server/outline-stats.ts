import { OrielError } from "../../errors.ts";
import type { JournalAnswer } from "../../journal/format/answer.ts";
import {
  type ChunkHeader,
  checkKind,
  degradedOf,
  HEADER_BYTES,
  needsOlder,
  seriesNowMs,
} from "../../journal/format/chunk.ts";
import { constants } from "../../journal/format/constants.ts";
import { JournalCopy } from "../../journal/replica/journal-copy.ts";
import type { Rollbacks } from "../../journal/replica/last-seen.ts";
import { ChunkOutline } from "../../journal/sealed/outline.ts";
import { readOutlines } from "../../journal/sealed/steps/read-outlines.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import type { StatsQuery } from "../../stats/window-query.ts";
import { type Degraded, statsOf, type WindowStats } from "../../stats/window-stats.ts";
import type { Store } from "../../store/contract.ts";
import type { SeriesSettings } from "../series-options.ts";
import { BlockParts } from "./block-parts.ts";
import { OutlineWindow } from "./outline-window.ts";

/** Knows the events that the journal lost. */
export interface LossTracker {
  readonly rollbacks: Rollbacks;
  /** Why a window from `fromMs` lacks events that this process has seen; undefined if it lacks none. */
  missingReason(fromMs: number): Degraded | undefined;
}

/** Tries if parts of the outlined chunks are gone when they are requested. */
const MAX_TRIES = 3;
/** Bound of the first answer. */
const MAX_BYTES = 4 << 20;

/**
 * Exact statistics without the events: from the open chunk, the raw closed chunks and the outlines of sealed ones, all of one
 * instant, and then from the few parts of sealed chunks that can have the wanted numbers. Two requests, seldom three.
 */
export class OutlineStats {
  readonly #store: Store;
  readonly #key: string;
  readonly #settings: SeriesSettings;
  readonly #losses: LossTracker;
  readonly #see: (open: ChunkHeader | undefined) => void;

  /** `see` is called with the header of the open chunk in each answer. */
  constructor(
    store: Store,
    key: string,
    settings: SeriesSettings,
    losses: LossTracker,
    see: (open: ChunkHeader | undefined) => void,
  ) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#losses = losses;
    this.#see = see;
  }

  /**
   * Undefined if the journal must be read instead: chunks were not found, do not fit together, are too many, or look damaged,
   * which the reader of the journal reports.
   */
  async stats(query: StatsQuery): Promise<WindowStats | undefined> {
    try {
      return await this.#stats(query);
    } catch (thrown) {
      const error = corruptAt(this.#key, thrown);
      if (error instanceof OrielError && error.code === "CORRUPT") return undefined;
      throw error;
    }
  }

  async #stats(query: StatsQuery): Promise<WindowStats | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { rollbacks } = this.#losses;
      const before = rollbacks.seen;
      const cut = await this.#store.run(readOutlines, this.#key, {
        spanMs: query.atMs === undefined ? query.spanMs : Number.NEGATIVE_INFINITY,
        fromMs: query.atMs === undefined ? Number.POSITIVE_INFINITY : query.atMs - query.spanMs,
        maxBytes: MAX_BYTES,
        atMs: query.atMs,
        closed: query.closed,
        hasPercentiles: query.percentiles.length > 0,
      });
      rollbacks.see(cut, before);
      this.#see(cut.header);
      const window = cut.header && windowOf(cut, query, this.#settings);
      if (!cut.header || !window) return undefined;
      const stats = await this.#answer(query, cut, cut.header, window);
      if (stats !== "changed") return stats;
    }
    return undefined;
  }

  async #answer(
    query: StatsQuery,
    { nowMs }: JournalAnswer,
    header: ChunkHeader,
    { window, oldest, isMissing }: FoundWindow,
  ): Promise<WindowStats | "changed" | undefined> {
    const fold = await window.fold(new BlockParts(this.#store, this.#key));
    if (!fold || fold === "changed") return fold;
    const coversUntilMs = oldest.clock === 1 ? oldest.latestMs : oldest.createdMs;
    const { fromMs, toMs } = window;
    const state = { header, nowMs, missing: isMissing, coversUntilMs };
    const degradedBy = degradedOf(state, fromMs, this.#losses.missingReason(fromMs));
    return statsOf(fold, query, this.#settings.nan, fromMs, toMs, degradedBy);
  }
}

interface FoundWindow {
  window: OutlineWindow;
  oldest: ChunkHeader;
  /** The chunk before the oldest one should exist and has expired. */
  isMissing: boolean;
}

/** The window of an answer. Undefined if the answer does not have all of it. Throws MISMATCH and CORRUPT. */
function windowOf(cut: JournalAnswer, query: StatsQuery, settings: SeriesSettings): FoundWindow | undefined {
  const header = cut.header!;
  checkKind(header, settings);
  // The open chunk is longer than a page.
  if (header.format !== constants.format || cut.bytes.length !== cut.length || !cut.closedChunks) return undefined;
  const toMs = query.atMs ?? seriesNowMs(header, cut.nowMs);
  const fromMs = toMs - query.spanMs;
  const closed = [...cut.closedChunks.linkedTo(header, fromMs)];
  const oldest = closed.at(-1)?.header ?? header;
  const isMissing = needsOlder(oldest, fromMs) && cut.closedChunks.isOver(oldest, cut.nowMs);
  if (needsOlder(oldest, fromMs) && !isMissing) return undefined;
  const raw = new JournalCopy();
  const percentiles = [...new Set(query.percentiles)].sort((a, b) => a - b);
  const window = new OutlineWindow(fromMs, toMs, query.closed, percentiles);
  for (const chunk of closed.reverse()) {
    raw.begin(chunk.header);
    if (chunk.header.format === constants.format) {
      raw.take(chunk.bytes.subarray(HEADER_BYTES));
      // A chunk that ends within a frame is damaged, which the reader of the journal reports.
      if (raw.tail!.length !== chunk.length) return undefined;
    } else {
      const outline = ChunkOutline.parse(chunk.bytes);
      if (outline.names) raw.skipSealed(outline.names, chunk.header.lastStampMs);
      window.addOutline(outline);
    }
  }
  raw.begin(header);
  raw.take(cut.bytes.subarray(HEADER_BYTES));
  if (raw.exceeds(settings.maxResidentBytes)) return undefined;
  window.addRaw(raw);
  return { window, oldest, isMissing };
}
