import { type Closed, isInside } from "../../../../base/time.ts";
import * as layout from "../../../../generated/layouts/journal.ts";
import { appendAndReadOutlinesScript, readOutlinesScript } from "../../../../generated/scripts/journal.ts";
import type { StepOfArguments } from "../../../../store/contract.ts";
import type { JournalAnswer } from "../../format/answer.ts";
import { HEADER_BYTES, readHeader } from "../../format/chunk.ts";
import type { ChunkBytes } from "../../format/chunk-bytes.ts";
import { encodeLookback, type Lookback } from "../../format/closed-chunks.ts";
import { constants } from "../../format/constants.ts";
import { type Append, append } from "../../steps/append.ts";
import { read } from "../../steps/read.ts";
import { withClosedChunks } from "../../steps/read-window.ts";

export interface OutlineQuery extends Lookback {
  /** End of the window; undefined: the present of the series. */
  atMs: number | undefined;
  closed: Closed;
  hasPercentiles: boolean;
}

const OUTLINES = { maxChunks: () => constants.maxOutlines, encode: encodeQuery, partOf: outlineOf };

/** Reads the open chunk, raw closed chunks and outlines of sealed ones. lua/journal/read-outlines.lua states the rules. */
export const readOutlines: StepOfArguments<OutlineQuery, JournalAnswer> = /* @__PURE__ */ withClosedChunks<
  undefined,
  OutlineQuery
>(
  read as StepOfArguments<undefined, JournalAnswer>,
  "journal/read-outlines",
  readOutlinesScript,
  (query) => [undefined, query],
  OUTLINES,
);

export interface AppendAndReadOutlines extends Append {
  query: OutlineQuery;
}

/** Appends, and reads outlines for a process without a copy. lua/journal/append-and-read-outlines.lua states the rules. */
export const appendAndReadOutlines: StepOfArguments<AppendAndReadOutlines, JournalAnswer> =
  /* @__PURE__ */ withClosedChunks<Append, AppendAndReadOutlines, OutlineQuery>(
    append,
    "journal/append-and-read-outlines",
    appendAndReadOutlinesScript,
    (input) => [input, input.query],
    OUTLINES,
  );

function encodeQuery(query: OutlineQuery): Uint8Array {
  const bytes = new Uint8Array(layout.OUTLINE_QUERY_BYTES);
  bytes.set(encodeLookback(query));
  const view = new DataView(bytes.buffer);
  view.setFloat64(layout.OUTLINE_QUERY_TO_MS_AT, query.atMs ?? 0, true);
  view.setUint8(layout.OUTLINE_QUERY_IS_DATED_AT, query.atMs === undefined ? 0 : 1);
  view.setUint8(layout.OUTLINE_QUERY_IS_BOTH_CLOSED_AT, query.closed === "both" ? 1 : 0);
  view.setUint8(layout.OUTLINE_QUERY_HAS_PERCENTILES_AT, query.hasPercentiles ? 1 : 0);
  return bytes;
}

const FIXED_BYTES = HEADER_BYTES + layout.SEALED_BYTES;

function outlineOf(
  { bytes }: ChunkBytes,
  { atMs, closed, hasPercentiles }: OutlineQuery,
  fromMs: number,
  presentMs: number,
  rawCreatedMs: number,
): Uint8Array {
  const { format, lastStampMs } = readHeader(bytes);
  if (format !== constants.sealedFormat || bytes.length < FIXED_BYTES) return bytes;
  const view = new DataView(bytes.buffer, bytes.byteOffset + HEADER_BYTES, layout.SEALED_BYTES);
  const earliestMs = view.getFloat64(layout.SEALED_EARLIEST_MS_AT, true);
  const latestMs = view.getFloat64(layout.SEALED_LATEST_MS_AT, true);
  const toMs = atMs ?? presentMs;
  // An empty chunk has no times, and is inside every window.
  const isWhole = latestMs <= toMs && (isInside(earliestMs, fromMs, toMs, closed) || earliestMs > latestMs);
  const isOutside = earliestMs > toMs || latestMs < fromMs;
  if (!(isWhole || isOutside) || lastStampMs > rawCreatedMs - constants.dedupeMs)
    return bytes.subarray(0, view.getUint32(layout.SEALED_BLOCKS_PLACE_AT, true));
  return bytes.subarray(
    0,
    hasPercentiles && !isOutside ? view.getUint32(layout.SEALED_TOTALS_PLACE_AT, true) : FIXED_BYTES,
  );
}
