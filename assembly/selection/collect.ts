// Law: copies the values from `first` to `last`, both included, in order. Counts the values below `first`. Reports NaN.
// Domain: any count. Limits have the column's type and may be infinite. first > last selects nothing. -0 equals +0. A NaN
//      is not copied, but counts as below. `out` may be `from`. Bound: exact. Writes nothing past `count` values.
// Source: the one pass of Floyd and Rivest 1975 (SELECT) over a sampled bracket; compaction by lists of places.
//
//   out: room for the values copied and for NaN         tally: 0 below, 4 all are numbers (1 or 0), u32 each; 32 bytes used
//
// A value that is neither below `first` nor above `last` is selected. NaN is selected too, and removed from the few selected
// values. A tile passes through three loops, each with less work. None branches on a value, so no data cause branch
// mispredictions:   values -> masks of 16 with a selected value -> places of the selected -> the selected

import { countOf } from "../memory";
import { listPlaces, MASKS, PLACES } from "./places";

/** Values per mask, and values per tile. */
const GROUP: usize = 16;
const TILE: usize = 2048;

/** Returns the number of copied values. */
export function collect32(from: usize, count: usize, first: f32, last: f32, out: usize, tally: usize): u32 {
  return collect<f32, u32>(from, count, first, last, out, tally);
}

/** Returns the number of copied values. */
export function collect64(from: usize, count: usize, first: f64, last: f64, out: usize, tally: usize): u32 {
  return collect<f64, u64>(from, count, first, last, out, tally);
}

function collect<T, K>(from: usize, count: usize, first: T, last: T, out: usize, tally: usize): u32 {
  let p = from;
  let to = out;
  let below: u32 = 0;
  const end = from + count * sizeof<T>();
  if (ASC_FEATURE_SIMD) {
    const lower = v128.splat<T>(first);
    const upper = v128.splat<T>(last);
    const counters = tally + 16;
    v128.store(counters, i32x4.splat(0));
    const whole = end - ((end - p) & (GROUP * sizeof<T>() - 1));
    while (p < whole) {
      const tile = min<usize>(p + TILE * sizeof<T>(), whole);
      const places = listPlaces(listMasks<T>(p, tile, lower, upper, counters));
      to = copy<K>(p, places, to);
      p = tile;
    }
    below = countOf<i32>(v128.load(counters), counters);
  }
  for (; p < end; p += sizeof<T>()) {
    const x = load<T>(p);
    store<T>(to, x);
    to += (<usize>!(x < first) & <usize>!(x > last)) * sizeof<T>();
    below += u32(x < first);
  }
  const chosen = withoutNan<T>(out, to);
  const nan = <u32>((to - chosen) / sizeof<T>());
  store<u32>(tally, below + nan);
  store<u32>(tally, u32(nan === 0), 4);
  return <u32>((chosen - out) / sizeof<T>());
}

/** Lists the groups with a selected value: their mask in the low 16 bits, above it the group's first place in the tile. */
function listMasks<T>(from: usize, end: usize, first: v128, last: v128, counters: usize): usize {
  const step = 4 * sizeof<T>();
  let below = v128.load(counters);
  let to = MASKS;
  let place: u32 = 0;
  for (let p = from; p < end; p += GROUP * sizeof<T>(), place += (<u32>GROUP) << 16) {
    const a = under<T>(p, first);
    const b = under<T>(p + step, first);
    const c = under<T>(p + 2 * step, first);
    const d = under<T>(p + 3 * step, first);
    below = i32x4.sub(below, i32x4.add(i32x4.add(a, b), i32x4.add(c, d)));
    const outside = i8x16.narrow_i16x8_s(
      i16x8.narrow_i32x4_s(v128.or(a, over<T>(p, last)), v128.or(b, over<T>(p + step, last))),
      i16x8.narrow_i32x4_s(v128.or(c, over<T>(p + 2 * step, last)), v128.or(d, over<T>(p + 3 * step, last))),
    );
    const chosen = <u32>i8x16.bitmask(outside) ^ 0xffff;
    store<u32>(to, place | chosen);
    to += (<usize>(chosen !== 0)) << 2;
  }
  v128.store(counters, below);
  return to;
}

/** Masks of 32 bits: which of four values are below a limit. */
function under<T>(p: usize, limit: v128): v128 {
  const low = v128.lt<T>(v128.load(p), limit);
  return sizeof<T>() === 4 ? low : v128.shuffle<u32>(low, v128.lt<T>(v128.load(p, 16), limit), 0, 2, 4, 6);
}

function over<T>(p: usize, limit: v128): v128 {
  const low = v128.gt<T>(v128.load(p), limit);
  return sizeof<T>() === 4 ? low : v128.shuffle<u32>(low, v128.gt<T>(v128.load(p, 16), limit), 0, 2, 4, 6);
}

/** Copies the values at the places listed from `PLACES` up to `end`. */
function copy<K>(tile: usize, end: usize, out: usize): usize {
  let to = out;
  for (let place = PLACES; place < end; place += 2, to += sizeof<K>())
    store<K>(to, load<K>(tile + <usize>load<u16>(place) * sizeof<K>()));
  return to;
}

/** Removes NaN in place and returns the new end. */
function withoutNan<T>(from: usize, end: usize): usize {
  let p = from;
  if (ASC_FEATURE_SIMD) {
    for (const whole = end - ((end - p) & 15); p < whole; p += 16) {
      const x = v128.load(p);
      if (v128.any_true(v128.ne<T>(x, x))) break;
    }
  }
  let to = p;
  for (; p < end; p += sizeof<T>()) {
    const x = load<T>(p);
    store<T>(to, x);
    to += <usize>(x <= <T>Infinity) * sizeof<T>();
  }
  return to;
}
