// Law: the order of arrival follows from a list of indexes into the distinct values, from the swaps of a shuffle (Fisher and Yates),
//      or from the places and indexes of all values but the most common one.
// Domain: any bytes. Damage gives 0. No access leaves the places of places.ts.
import { bitsOf, eightOf, unpack } from "./bits";
import { DISTINCT_COUNT, field, IN_ORDER, INDEX, ORDER_KIND, PERMUTATION } from "./fields";
import { decodeGroups, decodeSamples, samplesOf } from "./ladder";
import { ARRIVAL, CODE_SPREADS, DISTINCT, LOWS, OFFSETS, UNPACKED, VALUES } from "./places";

/** Puts the values at VALUES in order of arrival. Returns the address of the result, or 0 if the order is damaged. */
export function arrange<K>(order: usize, count: u32): usize {
  const kind = field(ORDER_KIND);
  if (kind === IN_ORDER) return VALUES;
  if (kind === PERMUTATION) {
    if (!readCodes<K>(order, count, 0)) return 0;
    shuffle<K>(count);
    return ARRIVAL;
  }
  const distinct = field(DISTINCT_COUNT);
  if (listDistinct<K>(count) !== distinct) return 0;
  if (kind !== INDEX) return scatter<K>(order, count, distinct);
  if (!readCodes<K>(order, count, distinct)) return 0;
  pick<K>(count);
  return ARRIVAL;
}

/**
 * Writes to OFFSETS (u16) the place of each index in a list of `distinct` values, or if that is 0 the place that each one swaps
 * with, times the size of a value. False if one is too large.
 */
function readCodes<K>(order: usize, count: u32, distinct: u32): bool {
  const limit = i16x8.splat(<i16>(distinct || count));
  const all = i16x8.splat(<i16>count);
  const own = i16x8.splat(distinct ? 0 : -1);
  let place = i16x8(0, 1, 2, 3, 4, 5, 6, 7);
  let isSound = i16x8.splat(-1);
  for (let from: u32 = 0; from < count; from += 32) {
    const width = bitsOf((distinct || count - from) - 1);
    const table = CODE_SPREADS + (width << 5);
    for (let at = from << 1; at < (from + 32) << 1; at += 16, order += width) {
      // Of bytes behind the last code come zeros.
      const code = v128.and(eightOf(order, table, 16 - width), i16x8.lt_u(place, all));
      const other = i16x8.add(code, v128.and(place, own));
      isSound = v128.and(isSound, i16x8.lt_u(v128.and(other, i16x8.lt_u(place, all)), limit));
      v128.store(at, i16x8.shl(other, sizeof<K>() === 4 ? 2 : 3), OFFSETS);
      place = i16x8.add(place, i16x8.splat(8));
    }
  }
  return i16x8.all_true(isSound);
}

/** Each value of VALUES goes to ARRIVAL, and the one whose place is now free to its place. */
function shuffle<K>(count: u32): void {
  // Four a round, because V8 checks the stack in each. Those behind the last stay where they are.
  if (sizeof<K>() === 4) {
    for (let at: usize = 0; at < count << 2; at += 16) {
      const four = load<u64>(at >> 1, OFFSETS);
      const second = <usize>(<u32>four >> 16);
      const third = <usize>((four >> 32) & 0xffff);
      const last = <usize>(four >> 48);
      let arrived = v128.load32_zero(<usize>(four & 0xffff), VALUES);
      store<u32>(<usize>(four & 0xffff), load<u32>(at, VALUES), VALUES);
      arrived = v128.load_lane<u32>(second, arrived, 1, VALUES);
      store<u32>(second, load<u32>(at, VALUES + 4), VALUES);
      arrived = v128.load_lane<u32>(third, arrived, 2, VALUES);
      store<u32>(third, load<u32>(at, VALUES + 8), VALUES);
      arrived = v128.load_lane<u32>(last, arrived, 3, VALUES);
      store<u32>(last, load<u32>(at, VALUES + 12), VALUES);
      v128.store(at, arrived, ARRIVAL);
    }
    return;
  }
  for (let at: usize = 0; at < count * sizeof<K>(); at += 4 * sizeof<K>()) {
    const four = load<u64>(at / (sizeof<K>() / 2), OFFSETS);
    swap<K>(at, <usize>(four & 0xffff));
    swap<K>(at + sizeof<K>(), <usize>(<u32>four >> 16));
    swap<K>(at + 2 * sizeof<K>(), <usize>((four >> 32) & 0xffff));
    swap<K>(at + 3 * sizeof<K>(), <usize>(four >> 48));
  }
}

function swap<K>(here: usize, there: usize): void {
  const value = load<K>(here, VALUES);
  store<K>(here, load<K>(there, VALUES), ARRIVAL);
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

function pick<K>(count: u32): void {
  for (let at: usize = 0; at < count * sizeof<K>(); at += 4 * sizeof<K>()) {
    const four = load<u64>(at / (sizeof<K>() / 2), OFFSETS);
    store<K>(at, load<K>(<usize>(four & 0xffff), DISTINCT), ARRIVAL);
    store<K>(at + sizeof<K>(), load<K>(<usize>(<u32>four >> 16), DISTINCT), ARRIVAL);
    store<K>(at + 2 * sizeof<K>(), load<K>(<usize>((four >> 32) & 0xffff), DISTINCT), ARRIVAL);
    store<K>(at + 3 * sizeof<K>(), load<K>(<usize>(four >> 48), DISTINCT), ARRIVAL);
  }
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
