import type { Source } from "../contract.ts";
import { halves, readersOf } from "../readers.ts";

/** Copies values whose time is inside to `out` from `at` on, all as 32-bit words, and answers the place after them. */
type Mask = (begin: number, end: number, out: Int32Array, at: number) => number;

const SIGN = 0x80000000;

/** The JS form of assembly/mask.ts; no BigInt is made for a time. */
export function maskOf(source: Source, bytes: Uint8Array): Mask {
  const { wide, first, last } = source;
  const values = wordsOf(source.values);
  if (!wide && first > 0n && bytes.byteOffset % 8 === 0) {
    const times = new Float64Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 8);
    const { isInside } = readersOf(source);
    const ends = new Float64Array(BigInt64Array.of(first, last).buffer);
    const from = ends[0]!;
    const to = Number.isNaN(ends[1]) ? Number.POSITIVE_INFINITY : ends[1]!;
    return (begin, end, out, at) => after1970(times, values, begin, end, out, at, from, to, isInside);
  }
  const times = wordsOf(bytes);
  const [high, low] = halves(first);
  const [lastHigh, lastLow] = halves(last);
  // Signed, so that words are never numbers beyond 2^31, which V8 keeps as doubles.
  const [from, to] = [(low ^ SIGN) | 0, (lastLow ^ SIGN) | 0];
  const stride = wide ? 2 : 1;
  return (begin, end, out, at) => long(times, values, begin, end, out, at, stride, high, from, lastHigh, to);
}

function wordsOf(bytes: Uint8Array): Int32Array {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

/**
 * f32, and a window that begins after 1970. As numbers of f64, the bits of such times order as the times do, and those of
 * earlier times come before them or are NaN; so are those of times from some 290 million years on, which `isInside` tells.
 */
function after1970(
  times: Float64Array,
  values: Int32Array,
  begin: number,
  end: number,
  out: Int32Array,
  at: number,
  first: number,
  last: number,
  isInside: (i: number) => boolean,
): number {
  let place = at;
  for (let i = begin; i < end; ) {
    if (i + 4 <= end) {
      const a = times[i]!;
      const b = times[i + 1]!;
      const c = times[i + 2]!;
      const d = times[i + 3]!;
      if (a >= first && a <= last && b >= first && b <= last && c >= first && c <= last && d >= first && d <= last) {
        out[place] = values[i]!;
        out[place + 1] = values[i + 1]!;
        out[place + 2] = values[i + 2]!;
        out[place + 3] = values[i + 3]!;
        place += 4;
        i += 4;
        continue;
      }
    }
    for (const next = Math.min(end, i + 4); i < next; i++) {
      const t = times[i]!;
      out[place] = values[i]!;
      if (t >= first) {
        if (t <= last) place++;
      } else if (Number.isNaN(t) && isInside(i)) place++;
    }
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
