// Law: for each event i of a piece (from `warm` on), the percentile of the events from its start to i. Of their n values
//      that are numbers, the kernel takes the one at rank lower[n] and interpolates to the next by weight[n] (the strict
//      law of src/engine/kernel/percentile/percentile.ts). The answer is NaN where n is 0. The ranks of the window are bits of a
//      set (rolling-bits.ts). A cursor points to the answer's rank and counts the members below it, so each slide moves it
//      by one or two members.
// Domain: starts are relative to `base`, never decrease, and are at most i. The tables hold every n that occurs, from
//      `least` on.
// Bound: that of the interpolation, within half a unit of f64 of low + weight * (high - low). Exact for whole weights.
//
//   values, ranks, order: see rolling-rank.ts      starts, out: one for each event from `warm` on, u32 and f64
//   lower, weight: tables by n - least, u32 and f64      bits: see rolling-bits.ts

import { floatOf } from "../keys";
import { add, downward, first, has, last, remove, upward, wordsAbove } from "./rolling-bits";
import { NONE } from "./rolling-rank";

export function rollingSlide32(
  values: usize,
  ranks: usize,
  order: usize,
  warm: usize,
  count: usize,
  starts: usize,
  base: usize,
  lower: usize,
  weight: usize,
  least: usize,
  bits: usize,
  out: usize,
): void {
  slide<f32>(values, ranks, order, warm, count, starts, base, lower, weight, least, bits, out);
}

export function rollingSlide64(
  values: usize,
  ranks: usize,
  order: usize,
  warm: usize,
  count: usize,
  starts: usize,
  base: usize,
  lower: usize,
  weight: usize,
  least: usize,
  bits: usize,
  out: usize,
): void {
  slide<f64>(values, ranks, order, warm, count, starts, base, lower, weight, least, bits, out);
}

function slide<T>(
  values: usize,
  ranks: usize,
  order: usize,
  warm: usize,
  count: usize,
  starts: usize,
  base: usize,
  lower: usize,
  weight: usize,
  least: usize,
  bits: usize,
  out: usize,
): void {
  const words0 = (count >> 6) + 2;
  const words1 = wordsAbove(words0);
  memory.fill(bits, 0, (1 + words0 + words1 + wordsAbove(words1)) << 3);
  bits += 8;
  const level1 = bits + (words0 << 3);
  const level2 = level1 + (words1 << 3);
  let n: i32 = 0;
  for (let i: usize = 0; i < warm; i++) {
    const rank = load<u32>(ranks + (i << 2));
    if (rank === NONE) continue;
    add(bits, level1, level2, rank);
    n++;
  }
  // `below` members are less than `cursor`. While the window changes, `cursor` may be a rank without a member.
  let cursor: usize = 0;
  let below: i32 = 0;
  if (n > 0) {
    const near = min<i32>(n - 1, load<u32>(lower + ((warm + 1 - (load<u32>(starts) - base) - least) << 2)));
    let ones = <i32>popcnt(load<u64>(bits));
    while (below + ones <= near) {
      below += ones;
      cursor += 64;
      ones = <i32>popcnt(load<u64>(bits + (cursor >> 3)));
    }
  }
  let oldest: usize = 0;
  for (let i = warm; i < count; i++, starts += 4, out += 8) {
    for (const start: usize = load<u32>(starts) - base; oldest < start; oldest++) {
      const rank = load<u32>(ranks + (oldest << 2));
      if (rank === NONE) continue;
      remove(bits, level1, level2, rank);
      below -= <i32>(rank < <u32>cursor);
      n--;
    }
    const rank = load<u32>(ranks + (i << 2));
    if (rank !== NONE) {
      add(bits, level1, level2, rank);
      below += <i32>(rank < <u32>cursor);
      n++;
    }
    if (n === 0) {
      store<f64>(out, NaN);
      continue;
    }
    const row = <usize>n - least;
    const k: i32 = load<u32>(lower + (row << 2));
    const away = k - below;
    // The cursor usually moves one step, up or down equally often. Both neighbours are searched, usually in one word.
    const above = upward(bits, cursor);
    const under = downward(bits, cursor);
    if (above & 1 && <u32>(away + 1) <= 2 && above !== 1 && under !== 0) {
      const next = cursor + <usize>ctz(above & ~1);
      const before = cursor - 1 - <usize>clz(under);
      cursor = select(next, select(before, cursor, away < 0), away > 0);
      below = k;
    } else if (away < 0) {
      do cursor = last(bits, level1, level2, cursor);
      while (--below > k);
    } else {
      if (!has(bits, cursor)) cursor = first(bits, level1, level2, cursor);
      for (; below < k; below++) cursor = first(bits, level1, level2, cursor + 1);
    }
    const low = valueAt<T>(values, order, cursor);
    const share = load<f64>(weight + (row << 3));
    let answer = low;
    if (share !== 0) {
      const high = valueAt<T>(values, order, first(bits, level1, level2, cursor + 1));
      const gap = high - low;
      // The general law is below. Here no clamping is needed: the added or subtracted share of the gap is at most half,
      // so the value stays between both ends.
      if (gap > 0 && gap < Infinity && share < 1) answer = share < 0.5 ? low + gap * share : high - gap * (1 - share);
      else answer = betweenFar(low, high, share);
    }
    store<f64>(out, answer);
  }
}

function valueAt<T>(values: usize, order: usize, rank: usize): f64 {
  const at = order + (rank << 3);
  if (sizeof<T>() === 4) return <f64>floatOf<f32, u32>(load<u32>(at, 4));
  return <f64>load<T>(values + <usize>load<u32>(at) * sizeof<T>());
}

/** `between` of src/engine/kernel/percentile/percentile.ts for a weight of 1 or a gap that is not finite (NaN between equal infinities). */
function betweenFar(low: f64, high: f64, weight: f64): f64 {
  if (low === high) return low;
  if (weight === 1) return high;
  if (low === -Infinity && high === Infinity) return weight < 0.5 ? low : weight > 0.5 ? high : 0;
  if (low === -Infinity || high === Infinity) return low === -Infinity ? low : high;
  const gap = high / 2 - low / 2;
  const value = weight < 0.5 ? low / 2 + gap * weight : high / 2 - gap * (1 - weight);
  return 2 * min<f64>(high / 2, max<f64>(low / 2, value));
}
