import { divideDouble } from "../../kernel/double-double.ts";
import { FRAME_HEADER_BYTES, type Known } from "./answer.ts";
import { type ChunkHeader, HEADER_BYTES, readHeader, writeHeader } from "./chunk.ts";
import { Digest } from "./digest.ts";
import { FrameRanges } from "./frame-ranges.ts";
import { law } from "./law.ts";

/*
 * A summary of a journal up to a place in one of its chunks, under `oriel:{name}:summary`, little-endian:
 *   0 header of that chunk, its first byte 129 · 64 u32 length · 68 u32 place of the last frame header before · 72 that
 *   header · 88 f64 from, ms: all events since are in it · 96 f64 reach, ms: creation of the oldest chunk read, in an
 *   event-clock journal its latest `at` · 104 u32 1 where the chunk before that one was missing · 108 u32 ranges
 *   112 u32 digests · 116 u32 0
 * Range of frames that copies may yet follow, 20 bytes: u32 producer · u32 first sequence · u32 count · f64 first stamp.
 * Digest of events that follow each other in time:
 *   0 f64 earliest · f64 latest · 16 u32 count · u32 NaN · u32 infinities · u32 negative infinities · 32 f64 min · f64 max
 *   48 f64 sum · f64 the sum's rest · f64 M2 · 72 u32 stride · u32 points · 80 points, f32 or f64
 */
export interface Summary {
  /** Of the chunk it ends in, as it was. */
  header: ChunkHeader;
  known: Known;
  fromMs: number;
  reachMs: number;
  isOlderMissing: boolean;
  frames: FrameRanges;
  /** In order of time. */
  digests: readonly Digest[];
}

/** A summary has so many at least. */
export const FIXED_BYTES = 120;
const RANGE_BYTES = 20;
const DIGEST_BYTES = 80;

export function summaryKey(key: string): string {
  return `${key}:summary`;
}

/** Where a summary of `FIXED_BYTES` or more ends: what a reader names that read so far. */
export function endOf(summary: Uint8Array): Known {
  const { number, birth } = readHeader(summary);
  const view = new DataView(summary.buffer, summary.byteOffset, summary.length);
  const frame = summary.slice(72, 72 + FRAME_HEADER_BYTES);
  return { number, birth, length: view.getUint32(64, true), place: view.getUint32(68, true), frame };
}

export function encodeSummary(summary: Summary): Uint8Array {
  const { header, known, frames, digests } = summary;
  const ranges = frames.list;
  const pointBytes = digests.reduce((sum, { sorted }) => sum + sorted.byteLength, 0);
  const bytes = new Uint8Array(FIXED_BYTES + RANGE_BYTES * ranges.length + DIGEST_BYTES * digests.length + pointBytes);
  const view = new DataView(bytes.buffer);
  writeHeader(bytes, { ...header, format: law.summaryFormat });
  view.setUint32(64, known.length, true);
  view.setUint32(68, known.place, true);
  bytes.set(known.frame, 72);
  view.setFloat64(88, summary.fromMs, true);
  view.setFloat64(96, summary.reachMs, true);
  view.setUint32(104, summary.isOlderMissing ? 1 : 0, true);
  view.setUint32(108, ranges.length, true);
  view.setUint32(112, digests.length, true);
  let at = FIXED_BYTES;
  for (const { producer, first, count, firstMs } of ranges) {
    for (const [i, u32] of [producer, first, count].entries()) view.setUint32(at + 4 * i, u32, true);
    view.setFloat64(at + 12, firstMs, true);
    at += RANGE_BYTES;
  }
  for (const digest of digests) at = writeDigest(bytes, view, at, digest);
  return bytes;
}

function writeDigest(bytes: Uint8Array, view: DataView, at: number, digest: Digest): number {
  const { count, nanCount, positiveInfinityCount, negativeInfinityCount, sorted } = digest;
  view.setFloat64(at, digest.earliestMs, true);
  view.setFloat64(at + 8, digest.latestMs, true);
  for (const [i, u32] of [count, nanCount, positiveInfinityCount, negativeInfinityCount].entries())
    view.setUint32(at + 16 + 4 * i, u32, true);
  for (const [i, f64] of [digest.min, digest.max, digest.sumHigh, digest.sumLow, digest.m2].entries())
    view.setFloat64(at + 32 + 8 * i, f64, true);
  view.setUint32(at + 72, digest.stride, true);
  view.setUint32(at + 76, sorted.length, true);
  bytes.set(new Uint8Array(sorted.buffer, sorted.byteOffset, sorted.byteLength), at + DIGEST_BYTES);
  return at + DIGEST_BYTES + sorted.byteLength;
}

/** Undefined for what is no whole summary of this format. */
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
  if (view.getUint8(0) !== law.summaryFormat) return undefined;
  const header = { ...readHeader(bytes), format: law.format };
  const known = endOf(bytes);
  let at = FIXED_BYTES;
  const ranges = Array.from({ length: count(view, 108, RANGE_BYTES) }, () => {
    const [producer, first, count] = [0, 4, 8].map((i) => view.getUint32(at + i, true));
    const firstMs = view.getFloat64(at + 12, true);
    at += RANGE_BYTES;
    return { producer, first, count, firstMs };
  });
  const digests = Array.from({ length: count(view, 112, DIGEST_BYTES) }, () => {
    const digest = readDigest(bytes, view, at, header.valueType);
    at += DIGEST_BYTES + digest.sorted.byteLength;
    return digest;
  });
  const isWhole = at === bytes.length && known.length >= HEADER_BYTES && Number.isSafeInteger(known.number);
  if (!isWhole || !digests.every((digest) => digest.isWhole)) return undefined;
  const [fromMs, reachMs] = [view.getFloat64(88, true), view.getFloat64(96, true)];
  const isOlderMissing = view.getUint32(104, true) === 1;
  return { header, known, fromMs, reachMs, isOlderMissing, frames: new FrameRanges(ranges), digests };
}

/** A number of parts of at least so many bytes; RangeError where there is no room for them. */
function count(view: DataView, at: number, leastBytes: number): number {
  const count = view.getUint32(at, true);
  if (count * leastBytes > view.byteLength) throw new RangeError();
  return count;
}

function readDigest(bytes: Uint8Array, view: DataView, at: number, valueType: number): Digest {
  const u32 = (offset: number) => view.getUint32(at + offset, true);
  const f64 = (offset: number) => view.getFloat64(at + offset, true);
  const sizeBytes = u32(76) * (valueType === 1 ? 8 : 4);
  if (at + DIGEST_BYTES + sizeBytes > bytes.length) throw new RangeError();
  const { buffer } = new Uint8Array(bytes.subarray(at + DIGEST_BYTES, at + DIGEST_BYTES + sizeBytes));
  const points = valueType === 1 ? new Float64Array(buffer) : new Float32Array(buffer);
  const digest = new Digest(points, u32(72), f64(0), f64(8));
  digest.count = u32(16);
  digest.nanCount = u32(20);
  digest.positiveInfinityCount = u32(24);
  digest.negativeInfinityCount = u32(28);
  digest.finiteCount = digest.numbers - digest.positiveInfinityCount - digest.negativeInfinityCount;
  [digest.min, digest.max, digest.sumHigh, digest.sumLow, digest.m2] = [32, 40, 48, 56, 64].map(f64);
  if (digest.finiteCount > 0)
    [digest.meanHigh, digest.meanLow] = divideDouble(digest.sumHigh, digest.sumLow, digest.finiteCount);
  return digest;
}
