import type { Source } from "../contract.ts";
import { halves } from "../readers.ts";

/** Copies values whose time is inside to `out` from `at` on, all as 32-bit words, and answers the place after them. */
type Mask = (times: Int32Array, values: Int32Array, begin: number, end: number, out: Int32Array, at: number) => number;

const SIGN = 0x80000000;

/** The JS form of assembly/mask.ts; no BigInt is made for a time. */
export function maskOf({ wide, first, last }: Source): Mask {
  const [high, low] = halves(first);
  const [lastHigh, lastLow] = halves(last);
  // Signed, so that words are never numbers beyond 2^31, which V8 keeps as doubles.
  const [from, to] = [(low ^ SIGN) | 0, (lastLow ^ SIGN) | 0];
  if (high === lastHigh && !wide)
    return (times, values, begin, end, out, at) => short(times, values, begin, end, out, at, high, from, to);
  const stride = wide ? 2 : 1;
  return (times, values, begin, end, out, at) =>
    long(times, values, begin, end, out, at, stride, high, from, lastHigh, to);
}

/** A window of f32 in which all times share their upper word. */
function short(
  times: Int32Array,
  values: Int32Array,
  begin: number,
  end: number,
  out: Int32Array,
  at: number,
  high: number,
  from: number,
  to: number,
): number {
  let place = at;
  for (let i = begin; i < end; i++) {
    const low = times[2 * i]! ^ SIGN;
    out[place] = values[i]!;
    place += times[2 * i + 1]! === high && low >= from && low <= to ? 1 : 0;
  }
  return place;
}

function long(
  times: Int32Array,
  values: Int32Array,
  begin: number,
  end: number,
  out: Int32Array,
  at: number,
  stride: number,
  firstHigh: number,
  from: number,
  lastHigh: number,
  to: number,
): number {
  let place = at;
  for (let i = begin; i < end; i++) {
    const low = times[2 * i]! ^ SIGN;
    const high = times[2 * i + 1]!;
    if (high < firstHigh || (high === firstHigh && low < from)) continue;
    if (high > lastHigh || (high === lastHigh && low > to)) continue;
    out[stride * place] = values[stride * i]!;
    out[stride * place + stride - 1] = values[stride * i + stride - 1]!;
    place++;
  }
  return place;
}
