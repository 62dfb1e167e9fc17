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
  const size = sizeof<K>() === 4 ? 2 : 3;
  const whole = count & ~31;
  let place = i32x4(0, 1, 2, 3);
  let farthest = i32x4.splat(0);
  for (let from: u32 = 0; from < whole; from += 32) {
    const width = bitsOf(count - 1 - from);
    const spread = SPREADS + (width << 6);
    const mask = MASKS + (width << 4);
    for (let at = from << 2; at < (from + 32) << 2; at += 32, order += width) {
      const front = i32x4.add(place, fourOf(order, spread, mask));
      place = i32x4.add(place, i32x4.splat(4));
      const back = i32x4.add(place, fourOf(order + (width >> 1), spread + 32, mask));
      place = i32x4.add(place, i32x4.splat(4));
      farthest = i32x4.max_u(farthest, i32x4.max_u(front, back));
      v128.store(at, i32x4.shl(front, size), OFFSETS);
      v128.store(at, i32x4.shl(back, size), OFFSETS + 16);
    }
  }
  if (v128.any_true(i32x4.gt_u(farthest, i32x4.splat(count - 1)))) return 0;
  if (whole < count) {
    unpack(order, count - whole, bitsOf(count - 1 - whole), UNPACKED);
    for (let i = whole; i < count; i++) {
      const other = i + load<u32>((i - whole) << 2, UNPACKED);
      if (other >= count) return 0;
      store<u32>(i << 2, other << size, OFFSETS);
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
  return VALUES;
}

function swap<K>(i: u32): void {
  const here = <usize>i * sizeof<K>();
  const there = <usize>load<u32>(i << 2, OFFSETS);
  const value = load<K>(here, VALUES);
  store<K>(here, load<K>(there, VALUES), VALUES);
  store<K>(there, value, VALUES);
}

/** Writes the distinct values at VALUES to DISTINCT. Returns their number. */
function listDistinct<K>(count: u32): u32 {
  let to: usize = 0;
  store<K>(0, load<K>(VALUES), DISTINCT);
  let i: u32 = 1;
  for (; i + 4 <= count; i += 4) {
    to = addDistinct<K>(i, to);
    to = addDistinct<K>(i + 1, to);
    to = addDistinct<K>(i + 2, to);
    to = addDistinct<K>(i + 3, to);
  }
  for (; i < count; i++) to = addDistinct<K>(i, to);
  return <u32>(to / sizeof<K>()) + 1;
}

function addDistinct<K>(i: u32, to: usize): usize {
  const value = load<K>(i * sizeof<K>(), VALUES);
  to += <usize>(value !== load<K>(i * sizeof<K>(), VALUES - sizeof<K>())) * sizeof<K>();
  store<K>(to, value, DISTINCT);
  return to;
}

function pick<K>(order: usize, count: u32, distinct: u32): usize {
  unpack(order, count, bitsOf(distinct - 1), OFFSETS);
  // Numbers behind the last are bytes of other parts.
  v128.store((<usize>count) << 2, i32x4.splat(0), OFFSETS);
  let largest = i32x4.splat(0);
  for (let at: usize = 0; at < (<usize>count) << 2; at += 16) largest = i32x4.max_u(largest, v128.load(at, OFFSETS));
  if (v128.any_true(i32x4.ge_u(largest, i32x4.splat(distinct)))) return 0;
  let i: u32 = 0;
  for (; i + 4 <= count; i += 4) {
    pickOne<K>(i);
    pickOne<K>(i + 1);
    pickOne<K>(i + 2);
    pickOne<K>(i + 3);
  }
  for (; i < count; i++) pickOne<K>(i);
  return ARRIVAL;
}

function pickOne<K>(i: u32): void {
  store<K>(i * sizeof<K>(), load<K>(load<u32>(i << 2, OFFSETS) * sizeof<K>(), DISTINCT), ARRIVAL);
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
