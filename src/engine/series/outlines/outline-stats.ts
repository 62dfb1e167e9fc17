import { OrielError } from "../../../base/errors.ts";
import type { Store } from "../../../store/contract.ts";
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
import { type OutlineQuery, readOutlines } from "../../journal/sealed/steps/read-outlines.ts";
import { corruptAt } from "../../journal/steps/corrupt.ts";
import { bytesPerEvent } from "../../stats/segments/segment.ts";
import type { StatsQuery } from "../../stats/window-query.ts";
import { type Degraded, statsOf, type WindowStats } from "../../stats/window-stats.ts";
import type { SeriesSettings } from "../series-options.ts";
import { BlockParts } from "./block-parts.ts";
import { type OutlinedJournal, OutlineWindow } from "./outline-window.ts";

/** Knows the events that the journal lost. */
export interface LossTracker {
  readonly rollbacks: Rollbacks;
  /** Why a window from `fromMs` lacks events that this process has seen; undefined if it lacks none. */
  missingReason(fromMs: number): Degraded | undefined;
}

/** Sees what answers from outlines show and cost. */
export interface OutlineWatcher {
  /** Called with each answer that has the open chunk. */
  see(answer: JournalAnswer): void;
  /** `windowBytes`: the size of all chunks of the window. `isTooLarge`: a copy of it would be above `maxResidentBytes`. */
  spent(bytes: number, requests: number, windowBytes: number, isTooLarge: boolean): void;
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
  readonly #watcher: OutlineWatcher;

  constructor(store: Store, key: string, settings: SeriesSettings, losses: LossTracker, watcher: OutlineWatcher) {
    this.#store = store;
    this.#key = key;
    this.#settings = settings;
    this.#losses = losses;
    this.#watcher = watcher;
  }

  /**
   * The journal itself if the answer has it whole, because no chunk of the window is sealed. Undefined if it must be read: chunks
   * were not found, do not fit together, are too many, or look damaged, which the reader of the journal reports. `first`: the
   * answer to `outlineQueryOf` that came with an append. `isPart`: the window itself is wanted, which is answered with other journals.
   */
  async stats(
    query: StatsQuery,
    isPart: boolean,
    first?: JournalAnswer,
  ): Promise<WindowStats | OutlinedPart | JournalAnswer | undefined> {
    try {
      return await this.#stats(query, isPart, first);
    } catch (thrown) {
      const error = corruptAt(this.#key, thrown);
      if (error instanceof OrielError && error.code === "CORRUPT") return undefined;
      throw error;
    }
  }

  async #stats(
    query: StatsQuery,
    isPart: boolean,
    first?: JournalAnswer,
  ): Promise<WindowStats | OutlinedPart | JournalAnswer | undefined> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const cut = tries === 0 && first ? first : await this.#read(query);
      this.#watcher.see(cut);
      if (!cut.header || cut.closedChunks?.chunks.every(({ header }) => header.format === constants.format)) return cut;
      const found = windowOf(cut, query, this.#settings);
      if (!found) return undefined;
      const part = this.#partOf(cut, cut.header, found);
      if (isPart) return part;
      const window = new OutlineWindow(query.percentiles);
      window.add(part);
      const fold = await window.fold();
      part.done();
      const { fromMs, toMs, degradedBy } = part;
      if (fold !== "changed") return fold && statsOf(fold, query, this.#settings.nan, fromMs, toMs, degradedBy);
    }
    return undefined;
  }

  async #read(query: StatsQuery): Promise<JournalAnswer> {
    const { rollbacks } = this.#losses;
    const before = rollbacks.seen;
    const cut = await this.#store.run(readOutlines, this.#key, outlineQueryOf(query));
    rollbacks.see(cut, before);
    return cut;
  }

  #partOf(cut: JournalAnswer, header: ChunkHeader, found: FoundWindow): OutlinedPart {
    const { oldest, isMissing, windowBytes, eventCount, ...window } = found;
    const parts = new BlockParts(this.#store, this.#key);
    const isTooLarge = eventCount * bytesPerEvent(header.valueType) > this.#settings.maxResidentBytes;
    const coversUntilMs = oldest.clock === 1 ? oldest.latestMs : oldest.createdMs;
    const state = { header, nowMs: cut.nowMs, missing: isMissing, coversUntilMs };
    const losses = this.#losses;
    return {
      ...window,
      parts,
      get degradedBy() {
        return degradedOf(state, window.fromMs, losses.missingReason(window.fromMs));
      },
      done: () => this.#watcher.spent(sizeOf(cut) + parts.fetchedBytes, 1 + parts.requests, windowBytes, isTooLarge),
    };
  }
}

export function outlineQueryOf({ atMs, spanMs, closed, percentiles }: StatsQuery): OutlineQuery {
  return {
    spanMs: atMs === undefined ? spanMs : Number.NEGATIVE_INFINITY,
    fromMs: atMs === undefined ? Number.POSITIVE_INFINITY : atMs - spanMs,
    maxBytes: MAX_BYTES,
    atMs,
    closed,
    hasPercentiles: percentiles.length > 0,
  };
}

/** The window of one of several journals. */
export interface OutlinedPart extends OutlinedJournal {
  /** As far as is known when it is read. */
  readonly degradedBy: Degraded | undefined;
  /** Call it when all parts of blocks were requested. */
  done(): void;
}

interface FoundWindow extends Omit<OutlinedJournal, "parts"> {
  oldest: ChunkHeader;
  /** True if the window needs the chunk before the oldest one, and that chunk has expired. */
  isMissing: boolean;
  /** The size of all its chunks. */
  windowBytes: number;
  /** The events of all its chunks. */
  eventCount: number;
}

function sizeOf({ bytes, closedChunks }: JournalAnswer): number {
  return (closedChunks?.chunks ?? []).reduce((sum, chunk) => sum + chunk.bytes.length, bytes.length);
}

/** The window of an answer. Undefined if the answer does not have all of it. Throws MISMATCH and CORRUPT. */
function windowOf(cut: JournalAnswer, query: StatsQuery, settings: SeriesSettings): FoundWindow | undefined {
  const header = cut.header!;
  // Damaged, or the open chunk is longer than a page.
  if (header.format !== constants.format || cut.bytes.length !== cut.length || !cut.closedChunks) return undefined;
  checkKind(header, settings);
  const toMs = query.atMs ?? seriesNowMs(header, cut.nowMs);
  const fromMs = toMs - query.spanMs;
  const closed = [...cut.closedChunks.linkedTo(header, fromMs)];
  const oldest = closed.at(-1)?.header ?? header;
  const isMissing = needsOlder(oldest, fromMs) && cut.closedChunks.isOver(oldest, cut.nowMs);
  if (needsOlder(oldest, fromMs) && !isMissing) return undefined;
  const raw = new JournalCopy();
  const outlines: ChunkOutline[] = [];
  let windowBytes = cut.length;
  let sealedCount = 0;
  for (const chunk of closed.reverse()) {
    raw.begin(chunk.header);
    if (chunk.header.format === constants.format) {
      raw.take(chunk.bytes.subarray(HEADER_BYTES));
      // A chunk that ends within a frame is damaged, which the reader of the journal reports.
      if (raw.tail!.length !== chunk.length) return undefined;
      windowBytes += chunk.length;
    } else {
      const outline = ChunkOutline.parse(chunk.bytes);
      if (outline.names) raw.skipSealed(outline.names, chunk.header.lastStampMs);
      outlines.push(outline);
      windowBytes += outline.sizeBytes;
      sealedCount += outline.count;
    }
  }
  raw.begin(header);
  raw.take(cut.bytes.subarray(HEADER_BYTES));
  if (raw.exceeds(settings.maxResidentBytes)) return undefined;
  const eventCount = sealedCount + raw.eventCount;
  return { fromMs, toMs, closed: query.closed, outlines, raw, oldest, isMissing, windowBytes, eventCount };
}
