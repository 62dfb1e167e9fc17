// Law: the order of arrival follows from a list of indexes into the distinct values, from the swaps of a shuffle (Fisher and Yates),
//      or from the places and indexes of all values but the most common one.
// Domain: any bytes. Damage gives 0. No access leaves the places of places.ts.
import { bitsOf, fourOf, unpack } from "./bits";
import { DISTINCT_COUNT, field, IN_ORDER, INDEX, ORDER_KIND, PERMUTATION } from "./fields";
import { decodeGroups, decodeSamples, samplesOf } from "./ladder";
import { ARRIVAL, DISTINCT, LOWS, MASKS, OFFSETS, SPREADS, UNPACKED, VALUES } from "./places";

/** Puts the values at VALUES in order of arrival. Returns the address of the result, or 0 if the order is damaged. */
export function arrange<K>(order: usize, count: u32): usize {
  const kind = field(ORDER_KIND);
  if (kind === IN_ORDER) return VALUES;
  if (kind === PERMUTATION) return shuffle<K>(order, count);
  const distinct = field(DISTINCT_COUNT);
  if (listDistinct<K>(count) !== distinct) return 0;
  if (kind === INDEX) return pick<K>(order, count, distinct);
  return scatter<K>(order, count, distinct);
}

function shuffle<K>(order: usize, count: u32): usize {
  // OFFSETS: for each place the address of the other one, from VALUES on.
  let place = i32x4(0, 1, 2, 3);
  let farthest = i32x4.splat(0);
  const size = sizeof<K>() === 4 ? 2 : 3;
  const last = i32x4.splat(count - 1);
  for (let from: u32 = 0; from < count; from += 32) {
    const width = bitsOf(count - 1 - from);
    const spread = SPREADS + (width << 6);
    const mask = MASKS + (width << 4);
    for (let at = from << 2; at < (from + 32) << 2; at += 32, order += width) {
      const front = i32x4.add(place, fourOf(order, spread, mask));
      farthest = i32x4.max_u(farthest, v128.and(front, i32x4.le_u(place, last)));
      place = i32x4.add(place, i32x4.splat(4));
      const back = i32x4.add(place, fourOf(order + (width >> 1), spread + 32, mask));
      farthest = i32x4.max_u(farthest, v128.and(back, i32x4.le_u(place, last)));
      place = i32x4.add(place, i32x4.splat(4));
      v128.store(at, i32x4.shl(front, size), OFFSETS);
      v128.store(at, i32x4.shl(back, size), OFFSETS + 16);
    }
  }
  // Four swaps a round, because V8 checks the stack in each.
  let i: u32 = 0;
  for (; i + 4 <= count; i += 4) {
    swap<K>(i);
    swap<K>(i + 1);
    swap<K>(i + 2);
    swap<K>(i + 3);
  }
  for (; i < count; i++) swap<K>(i);
  return v128.any_true(i32x4.gt_u(farthest, last)) ? 0 : VALUES;
}

function swap<K>(i: u32): void {
  const here = <usize>i * sizeof<K>();
  const there = <usize>load<u32>(i << 2, OFFSETS);
  const value = load<K>(here, VALUES);
  store<K>(here, load<K>(there, VALUES), VALUES);
  store<K>(there, value, VALUES);
}

function listDistinct<K>(count: u32): u32 {
  let to = DISTINCT;
  let last = load<K>(VALUES);
  store<K>(to, last);
  for (let i: u32 = 1; i < count; i++) {
    const value = load<K>(VALUES + i * sizeof<K>());
    to += value !== last ? sizeof<K>() : 0;
    store<K>(to, value);
    last = value;
  }
  return <u32>((to - DISTINCT) / sizeof<K>()) + 1;
}

function pick<K>(order: usize, count: u32, distinct: u32): usize {
  const width = bitsOf(distinct - 1);
  unpack(order, count, width, OFFSETS);
  let worst: i32 = 0;
  for (let i: usize = 0; i < count; i++) {
    const index = load<u32>(i << 2, OFFSETS);
    worst |= <i32>(distinct - 1 - index);
    store<K>(i * sizeof<K>(), load<K>(index * sizeof<K>(), DISTINCT), ARRIVAL);
  }
  return worst < 0 ? 0 : ARRIVAL;
}

/** u16 index of the common value, u16 number of others, u16 first and last place, their ladder, their indexes. */
function scatter<K>(order: usize, count: u32, distinct: u32): usize {
  const common = <u32>load<u16>(order);
  const others = <u32>load<u16>(order, 2);
  const first = <u32>load<u16>(order, 4);
  const last = <u32>load<u16>(order, 6);
  if (common >= distinct || others === 0 || others > count || first > last || last >= count) return 0;
  const groups = decodeSamples(order + 8, others, last - first);
  if (groups === 0) return 0;
  let at = decodeGroups(groups, others, 0, samplesOf(others), LOWS, 0, OFFSETS);
  if (at === 0) return 0;
  const value = load<K>(DISTINCT + common * sizeof<K>());
  for (let i: u32 = 0; i < count; i++) store<K>(ARRIVAL + i * sizeof<K>(), value);
  const width = bitsOf(distinct - 1);
  for (let from: u32 = 0; from < others; from += 32) {
    unpack(at, 32, width, UNPACKED);
    at += width << 2;
    for (let i = from; i < min<u32>(others, from + 32); i++) {
      const place = first + load<u32>(i << 2, OFFSETS);
      const index = load<u32>((i - from) << 2, UNPACKED);
      if (place >= count || index >= distinct) return 0;
      store<K>(place * sizeof<K>(), load<K>(index * sizeof<K>(), DISTINCT), ARRIVAL);
    }
  }
  return ARRIVAL;
}
