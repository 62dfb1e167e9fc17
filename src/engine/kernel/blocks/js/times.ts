// The JS form of assembly/blocks/times.ts.
import * as layout from "../../../../generated/layouts/block.ts";
import { GROUP, MAX_IN_BLOCK, TIMING } from "../../../../generated/layouts/block.ts";
import type { BlockHead, EncodedTimes } from "../contract.ts";
import { bitsOf, getBits, pack } from "./bits.ts";
import { decodeGroups, decodeSamples, encodeGroups, encodeSamples, groupsOf } from "./ladder.ts";

const MAX_SLOPE = 2 ** 31 - 1;
/** Runs of this many events, on average, are stored as runs. */
const MIN_MEAN_RUN = 4;
/** Damaged bytes are read up to this far. */
const MAX_BYTES = 65_536 + 8 * MAX_IN_BLOCK;
const input = new Uint8Array(MAX_BYTES);
const inputView = new DataView(input.buffer);
const output = /* @__PURE__ */ new Uint8Array(8 * MAX_IN_BLOCK);
const outputView = /* @__PURE__ */ new DataView(output.buffer);
const starts = /* @__PURE__ */ new Uint16Array(MAX_IN_BLOCK + 1);
const distinct = new Float64Array(MAX_IN_BLOCK);
const lengths = new Uint16Array(MAX_IN_BLOCK);
const numbers = new Uint32Array(MAX_IN_BLOCK + GROUP);

export function encodeTimes(times: Float64Array): EncodedTimes {
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
  output.fill(0);
  const end = isRuns ? encodeRuns(times, runs, earliestMs) : encodeLine(times, times.length, earliestMs, 0);
  return { runs: isRuns ? runs : 0, earliestMs, latestMs, bytes: end > 0 ? output.subarray(0, end) : undefined };
}

/** Returns the end of the bytes, or 0 if the times cannot be restored exactly. */
function encodeRuns(times: Float64Array, runs: number, earliestMs: number): number {
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
  const end = encodeLine(distinct, runs, earliestMs, layout.RUNS_BYTES);
  if (end === 0) return 0;
  const width = bitsOf(longest - shortest);
  for (let i = 0; i < runs; i++) lengths[i]! -= shortest;
  outputView.setUint16(layout.RUNS_SHORTEST_AT, shortest, true);
  outputView.setUint8(layout.RUNS_WIDTH_AT, width);
  return pack(lengths, 0, runs, width, outputView, end);
}

function encodeLine(times: Float64Array, count: number, earliestMs: number, at: number): number {
  let slope = count > 1 ? Number.POSITIVE_INFINITY : 0;
  // It skips NaN. The check of numbers below finds it.
  for (let i = 1; i < count; i++) {
    const step = times[i]! - times[i - 1]!;
    if (step < slope) slope = step;
  }
  const first = times[0]! - earliestMs;
  if (!Number.isInteger(slope) || Math.abs(slope) > MAX_SLOPE || !isU32(first)) return 0;
  for (let i = 0, last = 0; i < count; i++) {
    const number = times[i]! - earliestMs - first - i * slope;
    if (!isU32(number) || number < last || earliestMs + (first + i * slope + number) !== times[i]) return 0;
    numbers[i] = number;
    last = number;
  }
  outputView.setInt32(at + layout.TIMES_SLOPE_AT, slope, true);
  outputView.setUint32(at + layout.TIMES_TOP_AT, numbers[count - 1]!, true);
  outputView.setUint32(at + layout.TIMES_FIRST_AT, first, true);
  const groups = encodeSamples(numbers, count, outputView, at + layout.TIMES_BYTES);
  return encodeGroups(numbers, count, numbers, 0, outputView, groups);
}

function isU32(x: number): boolean {
  return x >>> 0 === x;
}

export function decodeTimes(head: BlockHead, earliestMs: number, bytes: Uint8Array, out: Float64Array): number {
  const isRuns = head.timing === TIMING.runs;
  const lines = isRuns ? head.runs : head.count;
  const at = isRuns ? layout.RUNS_BYTES : 0;
  input.set(bytes);
  const slope = inputView.getInt32(at + layout.TIMES_SLOPE_AT, true);
  const top = inputView.getUint32(at + layout.TIMES_TOP_AT, true);
  const first = inputView.getUint32(at + layout.TIMES_FIRST_AT, true);
  const groups = decodeSamples(inputView, at + layout.TIMES_BYTES, lines, top).end;
  if (groups < 0) return -1;
  const end = decodeGroups(inputView, groups, lines, 0, groupsOf(lines), 0, numbers, numbers);
  if (end < 0) return -1;
  const line = isRuns ? distinct : out;
  for (let i = 0; i < lines; i++) line[i] = earliestMs + (first + i * slope + numbers[i]!);
  if (isRuns) return writeRuns(head, end, bytes.length, out);
  return end === bytes.length ? lines : -1;
}

/** Repeats the time of each run. The lengths are at `at`. */
function writeRuns({ runs, count }: BlockHead, at: number, end: number, out: Float64Array): number {
  const shortest = inputView.getUint16(layout.RUNS_SHORTEST_AT, true);
  const width = inputView.getUint8(layout.RUNS_WIDTH_AT);
  if (width > 16 || at + ((runs * width + 7) >> 3) !== end) return -1;
  let events = 0;
  for (let i = 0; i < runs; i++) {
    const next = events + ((shortest + getBits(inputView, 8 * at + i * width, width)) & 0xffff);
    if (next > count) return next;
    const ms = distinct[i]!;
    for (; events < next; events++) out[events] = ms;
  }
  return events;
}
