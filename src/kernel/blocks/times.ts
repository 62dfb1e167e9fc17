import * as layout from "../../generated/layouts/block.ts";
import { MAX_IN_BLOCK, TIMING } from "../../generated/layouts/block.ts";
import type { BlockCodec, BlockHead } from "./contract.ts";
import { damaged } from "./head.ts";
import { bitsOf, getBits, pack } from "./js/bits.ts";

/*
 * Times of events, or of runs of equal ones, are a ladder: time i is earliest + first + i * slope + number i. The slope is the
 * least step, so that numbers never decrease, even if times do. Times that are no whole ms apart, or too far, are raw.
 */

export interface EncodedTimes {
  timing: number;
  runs: number;
  earliestMs: number;
  latestMs: number;
  bytes: Uint8Array;
}

const MAX_U32 = 2 ** 32 - 1;
const MAX_SLOPE = 2 ** 31 - 1;
/** What `getBits` reads past the end. */
const SLACK_BYTES = 8;

/** Runs of this many events, on average, are stored as runs. */
const MIN_MEAN_RUN = 4;
const starts = new Uint16Array(MAX_IN_BLOCK + 1);
const numbers = new Uint32Array(MAX_IN_BLOCK);

/** Encodes the times of a block's events, of which there is at least one. */
export function encodeTimes(codec: BlockCodec, times: Float64Array): EncodedTimes {
  let earliestMs = times[0]!;
  let latestMs = earliestMs;
  let before = earliestMs;
  let runs = 1;
  for (let i = 1; i < times.length; i++) {
    const ms = times[i]!;
    if (ms === before) continue;
    if (ms < earliestMs) earliestMs = ms;
    if (ms > latestMs) latestMs = ms;
    starts[runs++] = i;
    before = ms;
  }
  const isRuns = runs > 1 && MIN_MEAN_RUN * runs <= times.length;
  const bytes = isRuns ? encodeRuns(codec, times, runs, earliestMs) : encodeLine(codec, times, earliestMs);
  if (bytes)
    return { earliestMs, latestMs, timing: isRuns ? TIMING.runs : TIMING.each, runs: isRuns ? runs : 0, bytes };
  const raw = new Uint8Array(times.buffer, times.byteOffset, times.byteLength).slice();
  return { earliestMs, latestMs, timing: TIMING.raw, runs: 0, bytes: raw };
}

function encodeRuns(codec: BlockCodec, times: Float64Array, runs: number, earliestMs: number): Uint8Array | undefined {
  const distinct = new Float64Array(runs);
  const lengths = new Uint16Array(runs);
  let shortest = times.length;
  let longest = 0;
  starts[runs] = times.length;
  for (let i = 0; i < runs; i++) {
    const length = starts[i + 1]! - starts[i]!;
    distinct[i] = times[starts[i]!]!;
    lengths[i] = length;
    if (length < shortest) shortest = length;
    if (length > longest) longest = length;
  }
  const line = encodeLine(codec, distinct, earliestMs);
  if (!line) return undefined;
  const width = bitsOf(longest - shortest);
  for (let i = 0; i < runs; i++) lengths[i]! -= shortest;
  const bytes = new Uint8Array(line.length + layout.RUNS_BYTES + ((runs * width + 7) >> 3) + SLACK_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint16(layout.RUNS_SHORTEST_AT, shortest, true);
  view.setUint8(layout.RUNS_WIDTH_AT, width);
  bytes.set(line, layout.RUNS_BYTES);
  return bytes.subarray(0, pack(lengths, 0, runs, width, view, layout.RUNS_BYTES + line.length));
}

/** Undefined if a time cannot be restored exactly. */
function encodeLine(codec: BlockCodec, times: Float64Array, earliestMs: number): Uint8Array | undefined {
  const count = times.length;
  let slope = count > 1 ? Number.POSITIVE_INFINITY : 0;
  for (let i = 1; i < count; i++) slope = Math.min(slope, times[i]! - times[i - 1]!);
  const first = times[0]! - earliestMs;
  if (!Number.isInteger(slope) || Math.abs(slope) > MAX_SLOPE || !isU32(first)) return undefined;
  for (let i = 0, last = 0; i < count; i++) {
    const number = times[i]! - earliestMs - first - i * slope;
    if (!isU32(number) || number < last || earliestMs + (first + i * slope + number) !== times[i]) return undefined;
    numbers[i] = number;
    last = number;
  }
  const ladder = codec.encodeLadder(count === MAX_IN_BLOCK ? numbers : numbers.subarray(0, count));
  const bytes = new Uint8Array(layout.TIMES_BYTES + ladder.length);
  const view = new DataView(bytes.buffer);
  view.setInt32(layout.TIMES_SLOPE_AT, slope, true);
  view.setUint32(layout.TIMES_TOP_AT, numbers[count - 1]!, true);
  view.setUint32(layout.TIMES_FIRST_AT, first, true);
  bytes.set(ladder, layout.TIMES_BYTES);
  return bytes;
}

function isU32(x: number): boolean {
  return Number.isInteger(x) && x >= 0 && x <= MAX_U32;
}

/** Writes the times of a block's events to `out`. `earliestMs`: of its totals. Throws CORRUPT. */
export function decodeTimes(
  codec: BlockCodec,
  head: BlockHead,
  earliestMs: number,
  bytes: Uint8Array,
  out: Float64Array,
): void {
  const { timing, count, runs } = head;
  if (bytes.length !== head.timesBytes)
    throw damaged(`its times have ${bytes.length} bytes; it names ${head.timesBytes}`);
  if (timing === TIMING.raw) {
    if (bytes.length !== 8 * count) throw damaged("its times are raw and have another length");
    new Uint8Array(out.buffer, out.byteOffset, bytes.length).set(bytes);
    return;
  }
  const before = timing === TIMING.runs ? layout.RUNS_BYTES : 0;
  if (bytes.length < before + layout.TIMES_BYTES) throw damaged("its times end too early");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const slope = view.getInt32(before + layout.TIMES_SLOPE_AT, true);
  const top = view.getUint32(before + layout.TIMES_TOP_AT, true);
  const first = view.getUint32(before + layout.TIMES_FIRST_AT, true);
  const lines = timing === TIMING.runs ? runs : count;
  const ladder = codec.decodeLadder(bytes.subarray(before + layout.TIMES_BYTES), lines, top);
  const end = ladder ? before + layout.TIMES_BYTES + ladder.bytes : 0;
  if (!ladder || (timing === TIMING.each && end !== bytes.length)) throw damaged("its times do not fit their length");
  const { numbers } = ladder;
  if (timing === TIMING.each) {
    for (let i = 0; i < count; i++) out[i] = earliestMs + (first + i * slope + numbers[i]!);
    return;
  }
  const lengths = lengthsOf(view, end, runs);
  let at = 0;
  for (let i = 0; i < runs; i++) {
    const next = at + lengths[i]!;
    if (next > count) throw damaged("its runs are longer than the block");
    out.fill(earliestMs + (first + i * slope + numbers[i]!), at, next);
    at = next;
  }
  if (at !== count) throw damaged(`its runs have ${at} events; it must have ${count}`);
}

function lengthsOf(view: DataView, at: number, runs: number): Uint16Array {
  const shortest = view.getUint16(layout.RUNS_SHORTEST_AT, true);
  const width = view.getUint8(layout.RUNS_WIDTH_AT);
  const sizeBytes = (runs * width + 7) >> 3;
  if (width > 16 || at + sizeBytes !== view.byteLength) throw damaged("its runs do not fit their length");
  const bytes = new Uint8Array(sizeBytes + SLACK_BYTES);
  bytes.set(new Uint8Array(view.buffer, view.byteOffset + at, sizeBytes));
  const packed = new DataView(bytes.buffer);
  return Uint16Array.from({ length: runs }, (_, i) => shortest + getBits(packed, i * width, width));
}
