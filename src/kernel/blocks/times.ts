import * as layout from "../../generated/layouts/block.ts";
import { TIMING } from "../../generated/layouts/block.ts";
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

interface Line {
  slope: number;
  first: number;
  numbers: Uint32Array;
}

/** Encodes the times of a block's events, of which there is at least one. */
export function encodeTimes(codec: BlockCodec, times: Float64Array): EncodedTimes {
  let earliestMs = times[0]!;
  let latestMs = earliestMs;
  const starts = [0];
  for (let i = 1; i < times.length; i++) {
    const ms = times[i]!;
    if (ms < earliestMs) earliestMs = ms;
    if (ms > latestMs) latestMs = ms;
    if (ms !== times[i - 1]) starts.push(i);
  }
  const runs = starts.length;
  const each = encodeLine(codec, times, earliestMs);
  const result = { earliestMs, latestMs };
  if (!each) {
    const bytes = new Uint8Array(times.buffer, times.byteOffset, times.byteLength).slice();
    return { ...result, timing: TIMING.raw, runs: 0, bytes };
  }
  const byRun = runs < times.length && runs > 1 ? encodeRuns(codec, times, starts, earliestMs) : undefined;
  return byRun && byRun.length < each.length
    ? { ...result, timing: TIMING.runs, runs, bytes: byRun }
    : { ...result, timing: TIMING.each, runs: 0, bytes: each };
}

function encodeRuns(
  codec: BlockCodec,
  times: Float64Array,
  starts: readonly number[],
  earliestMs: number,
): Uint8Array | undefined {
  const line = encodeLine(
    codec,
    Float64Array.from(starts, (start) => times[start]!),
    earliestMs,
  );
  if (!line) return undefined;
  const lengths = Uint32Array.from(starts, (start, i) => (starts[i + 1] ?? times.length) - start);
  const shortest = lengths.reduce((least, length) => Math.min(least, length));
  const width = bitsOf(lengths.reduce((most, length) => Math.max(most, length)) - shortest);
  const bytes = new Uint8Array(line.length + layout.RUNS_BYTES + ((lengths.length * width + 7) >> 3) + SLACK_BYTES);
  const view = new DataView(bytes.buffer);
  view.setUint16(layout.RUNS_SHORTEST_AT, shortest, true);
  view.setUint8(layout.RUNS_WIDTH_AT, width);
  bytes.set(line, layout.RUNS_BYTES);
  const over = lengths.map((length) => length - shortest);
  return bytes.subarray(0, pack(over, 0, over.length, width, view, layout.RUNS_BYTES + line.length));
}

function encodeLine(codec: BlockCodec, times: Float64Array, earliestMs: number): Uint8Array | undefined {
  const line = lineOf(times, earliestMs);
  if (!line) return undefined;
  const ladder = codec.encodeLadder(line.numbers);
  const bytes = new Uint8Array(layout.TIMES_BYTES + ladder.length);
  const view = new DataView(bytes.buffer);
  view.setInt32(layout.TIMES_SLOPE_AT, line.slope, true);
  view.setUint32(layout.TIMES_TOP_AT, line.numbers.at(-1)!, true);
  view.setUint32(layout.TIMES_FIRST_AT, line.first, true);
  bytes.set(ladder, layout.TIMES_BYTES);
  return bytes;
}

/** Undefined if a time cannot be restored exactly. */
function lineOf(times: Float64Array, earliestMs: number): Line | undefined {
  const count = times.length;
  let slope = count > 1 ? Number.POSITIVE_INFINITY : 0;
  for (let i = 1; i < count; i++) slope = Math.min(slope, times[i]! - times[i - 1]!);
  const first = times[0]! - earliestMs;
  if (!Number.isInteger(slope) || Math.abs(slope) > MAX_SLOPE || !isU32(first)) return undefined;
  const numbers = new Uint32Array(count);
  for (let i = 0; i < count; i++) {
    const number = times[i]! - earliestMs - first - i * slope;
    if (!isU32(number) || earliestMs + (first + i * slope + number) !== times[i]) return undefined;
    numbers[i] = number;
    if (i > 0 && number < numbers[i - 1]!) return undefined;
  }
  return { slope, first, numbers };
}

function isU32(x: number): boolean {
  return Number.isInteger(x) && x >= 0 && x <= MAX_U32;
}

/** Writes the times of a block's events to `out`. Throws CORRUPT. */
export function decodeTimes(codec: BlockCodec, head: BlockHead, bytes: Uint8Array, out: Float64Array): void {
  const { timing, count, runs, earliestMs } = head;
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
