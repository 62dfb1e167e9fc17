import { OrielError } from "../../errors.ts";
import * as layout from "../../generated/layouts/journal.ts";
import { type ChunkHeader, HEADER_BYTES, isSound, readHeader } from "../format/chunk.ts";
import { constants } from "../format/constants.ts";
import type { ServerMoments } from "./server-moments.ts";

/** The answer of summary/server-stats; SERVER_ANSWER in layouts/journal.mjs. */
export interface ServerAnswer {
  status: number;
  /** True if the chunk before the oldest one read should exist and does not. */
  missing: boolean;
  /** Length of the open chunk, bytes. */
  length: number;
  /** TIME of the server, ms. */
  nowMs: number;
  /** Creation of the oldest chunk read, or with the event clock its latest `at`, ms. */
  coversUntilMs: number;
  /** The header of the open chunk. */
  header: ChunkHeader | undefined;
  moments: ServerMoments | undefined;
  /** `RANKS` numbers per percentile. */
  ordered: Float64Array;
}

/** Number of order statistics for each percentile, at the ranks around floor(numbers * p / 100). */
export const RANKS = 5;

/** The first of these ranks. No method uses one before it, or RANKS or more after it. */
export function firstRank(numbers: number, p: number): number {
  return Math.floor((numbers * p) / 100) - 2;
}

const HEADER_AT = layout.SERVER_ANSWER_BYTES;
const MOMENTS_AT = HEADER_AT + HEADER_BYTES;
const ORDERED_AT = MOMENTS_AT + layout.SERVER_MOMENTS_BYTES;

export function decodeServerAnswer(reply: Uint8Array): ServerAnswer {
  const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
  const sizes = reply.length === HEADER_AT || reply.length === MOMENTS_AT || reply.length >= ORDERED_AT;
  if (!sizes) throw new OrielError("CORRUPT", `an answer of ${reply.length} bytes is truncated`);
  const ordered = new Float64Array(Math.max(0, reply.length - ORDERED_AT) >> 3);
  for (let i = 0; i < ordered.length; i++) ordered[i] = view.getFloat64(ORDERED_AT + 8 * i, true);
  const header = reply.length > HEADER_AT ? readHeader(reply, HEADER_AT) : undefined;
  if (header?.format === constants.format && !isSound(header))
    throw new OrielError("CORRUPT", "the header of a chunk has an invalid time or length");
  return {
    status: view.getUint8(layout.SERVER_ANSWER_STATUS_AT),
    missing: view.getUint8(layout.SERVER_ANSWER_MISSING_AT) === 1,
    length: view.getUint32(layout.SERVER_ANSWER_LENGTH_AT, true),
    nowMs: view.getFloat64(layout.SERVER_ANSWER_NOW_MS_AT, true),
    coversUntilMs: view.getFloat64(layout.SERVER_ANSWER_COVERS_UNTIL_MS_AT, true),
    header,
    moments: reply.length > MOMENTS_AT ? readMoments(view) : undefined,
    ordered,
  };
}

function readMoments(view: DataView): ServerMoments {
  const u32 = (offset: number) => view.getUint32(MOMENTS_AT + offset, true);
  const f64 = (offset: number) => view.getFloat64(MOMENTS_AT + offset, true);
  return {
    count: u32(layout.SERVER_MOMENTS_COUNT_AT),
    numbers: u32(layout.SERVER_MOMENTS_NUMBERS_AT),
    infinite: u32(layout.SERVER_MOMENTS_INFINITE_AT),
    negativeInfinite: u32(layout.SERVER_MOMENTS_NEGATIVE_INFINITE_AT),
    min: f64(layout.SERVER_MOMENTS_MIN_AT),
    max: f64(layout.SERVER_MOMENTS_MAX_AT),
    high: f64(layout.SERVER_MOMENTS_HIGH_AT),
    low: f64(layout.SERVER_MOMENTS_LOW_AT),
    m2: f64(layout.SERVER_MOMENTS_M2_AT),
    scale: f64(layout.SERVER_MOMENTS_SCALE_AT),
  };
}
