// Law: time i is earliest + (first + i * slope + number i of a ladder), in f64. The slope is the least step. Of runs of equal times
//      each has one number, and its length less the shortest follows. The sums in parentheses are exact.
// Domain: 1 to 1024 f64 at TIMES. Any bytes; damage gives -1. No access leaves the places of places.ts.
import { bitsOf, pack, unpack } from "./bits";
import { BASE, FORM, ORDER_KIND, setField, UNIT } from "./fields";
import { decodeGroups, decodeSamples, encodeGroups, encodeSamples, samplesOf } from "./ladder";
import { BLOCK, KEYS, LINES, LOWS, OFFSETS, TIMES, TIMES_BLOCK } from "./places";

const EACH: u32 = 0;
const RUNS: u32 = 1;
/** u16 shortest, u8 width of the lengths. */
const RUNS_BYTES: usize = 3;
/** i32 slope, u32 top, u32 first. */
const TIMES_BYTES: usize = 12;

/** Writes times to TIMES_BLOCK. Returns the end, or 0 if they cannot be restored exactly. Fields: the timing, runs, and the bounds. */
export function encodeTimes(count: u32): usize {
  const runs = findRuns(count);
  const isRuns = runs > 1 && runs << 2 <= count;
  setField(FORM, isRuns ? RUNS : EACH);
  setField(ORDER_KIND, isRuns ? runs : 0);
  if (!isRuns) return encodeLine(TIMES, count, TIMES_BLOCK);
  let shortest = count;
  let longest: u32 = 0;
  for (let i: u32 = 0; i < runs; i++) {
    const start = <usize>load<u16>(KEYS + (i << 1));
    const length = <u32>load<u16>(KEYS + (i << 1), 2) - <u32>start;
    store<f64>(LINES + (i << 3), load<f64>(TIMES + (start << 3)));
    store<u32>(LOWS + (i << 2), length);
    shortest = min<u32>(shortest, length);
    longest = max<u32>(longest, length);
  }
  const end = encodeLine(LINES, runs, TIMES_BLOCK + RUNS_BYTES);
  if (end === 0) return 0;
  const width = bitsOf(longest - shortest);
  store<u16>(TIMES_BLOCK, shortest);
  store<u8>(TIMES_BLOCK, width, 2);
  for (let i: u32 = 0; i < runs; i++) store<u32>(LOWS + (i << 2), load<u32>(LOWS + (i << 2)) - shortest);
  return pack(LOWS, runs, width, end);
}

/** Writes the first event of each run, and the end, to KEYS (u16). Returns the number of runs. */
function findRuns(count: u32): u32 {
  let before = v128.load64_splat(TIMES);
  let earliest = before;
  let latest = before;
  let runs: u32 = 1;
  store<u16>(KEYS, 0);
  // Without a branch, because equal times are hard to predict. Of equal bounds (-0 and 0) the first stays.
  for (let i: u32 = 1; i < count; i++) {
    const ms = v128.load64_splat(TIMES + (i << 3));
    earliest = f64x2.pmin(earliest, ms);
    latest = f64x2.pmax(latest, ms);
    store<u16>(KEYS + (runs << 1), i);
    runs -= i32x4.extract_lane(f64x2.ne(ms, before), 0);
    before = ms;
  }
  store<u16>(KEYS + (runs << 1), count);
  v128.store64_lane(BASE, earliest, 0);
  v128.store64_lane(UNIT, latest, 0);
  return runs;
}

/** It skips NaN. The check of numbers finds it. */
function leastStep(from: usize, count: u32): f64 {
  if (count === 1) return 0;
  store<f64>(from + (count << 3), Infinity);
  let least = f64x2.splat(Infinity);
  for (const end = from + ((count - 1) << 3); from < end; from += 16)
    least = f64x2.pmin(least, f64x2.sub(v128.load(from, 8), v128.load(from)));
  return min<f64>(f64x2.extract_lane(least, 0), f64x2.extract_lane(least, 1));
}

function encodeLine(from: usize, count: u32, to: usize): usize {
  const slope = leastStep(from, count);
  const earliest = load<f64>(BASE);
  const first = load<f64>(from) - earliest;
  if (!(floor<f64>(slope) === slope && abs<f64>(slope) <= 2147483647)) return 0;
  if (!(floor<f64>(first) === first && first <= 4294967295 && earliest + first === load<f64>(from))) return 0;
  store<u32>(OFFSETS, 0);
  const start = v128.load64_splat(BASE);
  const firsts = f64x2.splat(first);
  const step = f64x2.splat(2 * slope);
  // Pairs begin at the second time if the number of times is odd.
  const odd = count & 1;
  const line0 = odd ? slope : 0;
  let line = f64x2.replace_lane(f64x2.splat(line0), 1, line0 + slope);
  let isSound = i64x2.splat(-1);
  for (let at: usize = odd << 2; at < count << 2; at += 8) {
    const ms = v128.load(from + (at << 1));
    const number = f64x2.sub(f64x2.sub(f64x2.sub(ms, start), firsts), line);
    const whole = i32x4.trunc_sat_f64x2_u_zero(number);
    const again = f64x2.add(start, f64x2.add(f64x2.add(firsts, line), number));
    const isWhole = f64x2.eq(f64x2.convert_low_i32x4_u(whole), number);
    isSound = v128.and(isSound, v128.and(isWhole, f64x2.eq(again, ms)));
    v128.store64_lane(at + OFFSETS, whole, 0);
    line = f64x2.add(line, step);
  }
  v128.store((<usize>count) << 2, i32x4.splat(-1), OFFSETS);
  for (let at: usize = 0; at < count << 2; at += 16)
    isSound = v128.and(isSound, i32x4.ge_u(v128.load(at, OFFSETS + 4), v128.load(at, OFFSETS)));
  if (!i32x4.all_true(isSound)) return 0;
  store<i32>(to, <i32>slope);
  store<u32>(to, load<u32>((count - 1) << 2, OFFSETS), 4);
  store<u32>(to, <u32>first, 8);
  return encodeGroups(OFFSETS, count, LOWS, 0, encodeSamples(OFFSETS, count, to + TIMES_BYTES));
}

/**
 * Writes the times of `count` events, or of as many runs, to TIMES. They are `sizeBytes` at BLOCK. Returns the number of events, which
 * is above `count` if runs are too long, or -1.
 */
export function decodeTimes(sizeBytes: u32, count: u32, runs: u32, earliest: f64): i32 {
  const last = BLOCK + sizeBytes;
  const at = runs > 0 ? BLOCK + RUNS_BYTES : BLOCK;
  const lines = runs > 0 ? runs : count;
  const groups = decodeSamples(at + TIMES_BYTES, lines, load<u32>(at, 4));
  if (groups === 0) return -1;
  const end = decodeGroups(groups, lines, 0, samplesOf(lines), LOWS, 0, OFFSETS);
  if (end === 0) return -1;
  writeLine(<f64>load<u32>(at, 8), <f64>load<i32>(at), earliest, lines, runs > 0 ? LINES : TIMES);
  if (runs === 0) return end === last ? count : -1;
  const width = <u32>load<u8>(BLOCK, 2);
  if (width > 16 || end + ((runs * width + 7) >> 3) !== last) return -1;
  unpack(end, runs, width, LOWS);
  return writeRuns(count, runs);
}

function writeLine(first: f64, slope: f64, earliest: f64, count: u32, to: usize): void {
  store<f64>(BASE, earliest);
  store<f64>(UNIT, 4 * slope);
  const start = v128.load64_splat(BASE);
  const step = v128.load64_splat(UNIT);
  let front = f64x2.replace_lane(f64x2.splat(first), 1, first + slope);
  let back = f64x2.add(front, f64x2.splat(2 * slope));
  for (let at: usize = 0; at < count << 2; at += 16, to += 32) {
    const low = f64x2.convert_low_i32x4_u(v128.load64_zero(at, OFFSETS));
    const high = f64x2.convert_low_i32x4_u(v128.load64_zero(at, OFFSETS + 8));
    v128.store(to, f64x2.add(start, f64x2.add(front, low)));
    v128.store(to, f64x2.add(start, f64x2.add(back, high)), 16);
    front = f64x2.add(front, step);
    back = f64x2.add(back, step);
  }
}

/** Repeats the time of each run. */
function writeRuns(count: u32, runs: u32): i32 {
  const shortest = <u32>load<u16>(BLOCK);
  let events: u32 = 0;
  for (let i: u32 = 0; i < runs; i++) {
    const next = events + ((shortest + load<u32>(LOWS + (i << 2))) & 0xffff);
    if (next > count) return next;
    const ms = v128.load64_splat(LINES + (i << 3));
    // Up to one time too many, which the next run overwrites.
    for (let to = TIMES + (events << 3); to < TIMES + (next << 3); to += 16) v128.store(to, ms);
    events = next;
  }
  return events;
}
