import * as layout from "../../generated/layouts/journal.ts";
import { divideDouble } from "../../kernel/double-double.ts";
import { FRAME_HEADER_BYTES, type Known } from "./answer.ts";
import { type ChunkHeader, HEADER_BYTES, readHeader, writeHeader } from "./chunk.ts";
import { constants } from "./constants.ts";
import { Digest } from "./digest.ts";
import { FrameRanges } from "./frame-ranges.ts";

/*
 * A summary of a journal up to a place in one of its chunks, in the key `oriel:{name}:summary`. It has the header of that chunk
 * (CHUNK with format 129), SUMMARY, ranges of frames of which copies may still follow (FRAME_RANGE), and digests of
 * consecutive events (DIGEST and its points). layouts/journal.mjs declares these records.
 */
export interface Summary {
  /** The header of its last chunk at that time. */
  header: ChunkHeader;
  known: Known;
  fromMs: number;
  coversUntilMs: number;
  isOlderMissing: boolean;
  frames: FrameRanges;
  /** In order of time. */
  digests: readonly Digest[];
}

/** Smallest size of a summary. */
export const FIXED_BYTES = HEADER_BYTES + layout.SUMMARY_BYTES;
const FRAME_AT = HEADER_BYTES + layout.SUMMARY_FRAME_AT;
const RANGE_BYTES = layout.FRAME_RANGE_BYTES;
const DIGEST_BYTES = layout.DIGEST_BYTES;

export function summaryKey(key: string): string {
  return `${key}:summary`;
}

/** The end of a summary of at least `FIXED_BYTES`, in the form that a reader names. */
export function endOf(summary: Uint8Array): Known {
  const { number, birth } = readHeader(summary);
  const view = new DataView(summary.buffer, summary.byteOffset, summary.length);
  const frame = summary.slice(FRAME_AT, FRAME_AT + FRAME_HEADER_BYTES);
  return {
    number,
    birth,
    length: view.getUint32(HEADER_BYTES + layout.SUMMARY_LENGTH_AT, true),
    place: view.getUint32(HEADER_BYTES + layout.SUMMARY_PLACE_AT, true),
    frame,
  };
}

export function encodeSummary(summary: Summary): Uint8Array {
  const { header, known, frames, digests } = summary;
  const ranges = frames.list;
  const pointBytes = digests.reduce((sum, { sorted }) => sum + sorted.byteLength, 0);
  const bytes = new Uint8Array(FIXED_BYTES + RANGE_BYTES * ranges.length + DIGEST_BYTES * digests.length + pointBytes);
  const view = new DataView(bytes.buffer);
  writeHeader(bytes, { ...header, format: constants.summaryFormat });
  view.setUint32(HEADER_BYTES + layout.SUMMARY_LENGTH_AT, known.length, true);
  view.setUint32(HEADER_BYTES + layout.SUMMARY_PLACE_AT, known.place, true);
  bytes.set(known.frame, FRAME_AT);
  view.setFloat64(HEADER_BYTES + layout.SUMMARY_FROM_MS_AT, summary.fromMs, true);
  view.setFloat64(HEADER_BYTES + layout.SUMMARY_COVERS_UNTIL_MS_AT, summary.coversUntilMs, true);
  view.setUint32(HEADER_BYTES + layout.SUMMARY_IS_OLDER_MISSING_AT, summary.isOlderMissing ? 1 : 0, true);
  view.setUint32(HEADER_BYTES + layout.SUMMARY_RANGES_AT, ranges.length, true);
  view.setUint32(HEADER_BYTES + layout.SUMMARY_DIGESTS_AT, digests.length, true);
  let at = FIXED_BYTES;
  for (const { producer, first, count, firstMs } of ranges) {
    view.setUint32(at + layout.FRAME_RANGE_PRODUCER_AT, producer, true);
    view.setUint32(at + layout.FRAME_RANGE_FIRST_AT, first, true);
    view.setUint32(at + layout.FRAME_RANGE_COUNT_AT, count, true);
    view.setFloat64(at + layout.FRAME_RANGE_FIRST_MS_AT, firstMs, true);
    at += RANGE_BYTES;
  }
  for (const digest of digests) at = writeDigest(bytes, view, at, digest);
  return bytes;
}

function writeDigest(bytes: Uint8Array, view: DataView, at: number, digest: Digest): number {
  const { sorted } = digest;
  view.setFloat64(at + layout.DIGEST_EARLIEST_MS_AT, digest.earliestMs, true);
  view.setFloat64(at + layout.DIGEST_LATEST_MS_AT, digest.latestMs, true);
  view.setUint32(at + layout.DIGEST_COUNT_AT, digest.count, true);
  view.setUint32(at + layout.DIGEST_NAN_COUNT_AT, digest.nanCount, true);
  view.setUint32(at + layout.DIGEST_POSITIVE_INFINITY_COUNT_AT, digest.positiveInfinityCount, true);
  view.setUint32(at + layout.DIGEST_NEGATIVE_INFINITY_COUNT_AT, digest.negativeInfinityCount, true);
  view.setFloat64(at + layout.DIGEST_MIN_AT, digest.min, true);
  view.setFloat64(at + layout.DIGEST_MAX_AT, digest.max, true);
  view.setFloat64(at + layout.DIGEST_SUM_HIGH_AT, digest.sumHigh, true);
  view.setFloat64(at + layout.DIGEST_SUM_LOW_AT, digest.sumLow, true);
  view.setFloat64(at + layout.DIGEST_M2_AT, digest.m2, true);
  view.setUint32(at + layout.DIGEST_STRIDE_AT, digest.stride, true);
  view.setUint32(at + layout.DIGEST_POINTS_AT, sorted.length, true);
  bytes.set(new Uint8Array(sorted.buffer, sorted.byteOffset, sorted.byteLength), at + DIGEST_BYTES);
  return at + DIGEST_BYTES + sorted.byteLength;
}

/** Undefined if the bytes are not a complete summary of this format. */
export function decodeSummary(bytes: Uint8Array): Summary | undefined {
  try {
    return readSummary(bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readSummary(bytes: Uint8Array): Summary | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (view.getUint8(layout.CHUNK_FORMAT_AT) !== constants.summaryFormat) return undefined;
  const header = { ...readHeader(bytes), format: constants.format };
  const known = endOf(bytes);
  let at = FIXED_BYTES;
  const ranges = Array.from({ length: count(view, HEADER_BYTES + layout.SUMMARY_RANGES_AT, RANGE_BYTES) }, () => {
    const producer = view.getUint32(at + layout.FRAME_RANGE_PRODUCER_AT, true);
    const first = view.getUint32(at + layout.FRAME_RANGE_FIRST_AT, true);
    const count = view.getUint32(at + layout.FRAME_RANGE_COUNT_AT, true);
    const firstMs = view.getFloat64(at + layout.FRAME_RANGE_FIRST_MS_AT, true);
    at += RANGE_BYTES;
    return { producer, first, count, firstMs };
  });
  const digests = Array.from({ length: count(view, HEADER_BYTES + layout.SUMMARY_DIGESTS_AT, DIGEST_BYTES) }, () => {
    const digest = readDigest(bytes, view, at, header.valueType);
    at += DIGEST_BYTES + digest.sorted.byteLength;
    return digest;
  });
  const isWhole = at === bytes.length && known.length >= HEADER_BYTES && Number.isSafeInteger(known.number);
  if (!isWhole || !digests.every((digest) => digest.isWhole)) return undefined;
  const [fromMs, reachMs] = [
    view.getFloat64(HEADER_BYTES + layout.SUMMARY_FROM_MS_AT, true),
    view.getFloat64(HEADER_BYTES + layout.SUMMARY_COVERS_UNTIL_MS_AT, true),
  ];
  const isOlderMissing = view.getUint32(HEADER_BYTES + layout.SUMMARY_IS_OLDER_MISSING_AT, true) === 1;
  return { header, known, fromMs, coversUntilMs: reachMs, isOlderMissing, frames: new FrameRanges(ranges), digests };
}

/** Reads a number of parts with at least `minBytes` each. Throws RangeError if the bytes have no room for them. */
function count(view: DataView, at: number, minBytes: number): number {
  const count = view.getUint32(at, true);
  if (count * minBytes > view.byteLength) throw new RangeError();
  return count;
}

function readDigest(bytes: Uint8Array, view: DataView, at: number, valueType: number): Digest {
  const u32 = (offset: number) => view.getUint32(at + offset, true);
  const f64 = (offset: number) => view.getFloat64(at + offset, true);
  const sizeBytes = u32(layout.DIGEST_POINTS_AT) * (valueType === 1 ? 8 : 4);
  if (at + DIGEST_BYTES + sizeBytes > bytes.length) throw new RangeError();
  const { buffer } = new Uint8Array(bytes.subarray(at + DIGEST_BYTES, at + DIGEST_BYTES + sizeBytes));
  const points = valueType === 1 ? new Float64Array(buffer) : new Float32Array(buffer);
  const digest = new Digest(
    points,
    u32(layout.DIGEST_STRIDE_AT),
    f64(layout.DIGEST_EARLIEST_MS_AT),
    f64(layout.DIGEST_LATEST_MS_AT),
  );
  digest.count = u32(layout.DIGEST_COUNT_AT);
  digest.nanCount = u32(layout.DIGEST_NAN_COUNT_AT);
  digest.positiveInfinityCount = u32(layout.DIGEST_POSITIVE_INFINITY_COUNT_AT);
  digest.negativeInfinityCount = u32(layout.DIGEST_NEGATIVE_INFINITY_COUNT_AT);
  digest.finiteCount = digest.numbers - digest.positiveInfinityCount - digest.negativeInfinityCount;
  digest.min = f64(layout.DIGEST_MIN_AT);
  digest.max = f64(layout.DIGEST_MAX_AT);
  digest.sumHigh = f64(layout.DIGEST_SUM_HIGH_AT);
  digest.sumLow = f64(layout.DIGEST_SUM_LOW_AT);
  digest.m2 = f64(layout.DIGEST_M2_AT);
  if (digest.finiteCount > 0)
    [digest.meanHigh, digest.meanLow] = divideDouble(digest.sumHigh, digest.sumLow, digest.finiteCount);
  return digest;
}
