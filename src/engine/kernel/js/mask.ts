import type { Source } from "../contract.ts";
import { halves, readersOf } from "../readers.ts";

/** Copies the values whose time is inside to `out` from index `at`, as 32-bit words. Returns the index after them. */
type Mask = (begin: number, end: number, out: Int32Array, at: number) => number;

const SIGN = 0x80000000;

/** The JavaScript form of assembly/mask.ts; no BigInt is made for a time. */
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
  // Signed words stay below 2^31. V8 stores larger numbers as doubles, which are slower.
  const [from, to] = [(low ^ SIGN) | 0, (lastLow ^ SIGN) | 0];
  const stride = wide ? 2 : 1;
  return (begin, end, out, at) => long(times, values, begin, end, out, at, stride, high, from, lastHigh, to);
}

function wordsOf(bytes: Uint8Array): Int32Array {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

/**
 * For f32 values, and a window that begins after 1970. Read as f64, the bits of times after 1970 have the order of the
 * times. Earlier times become smaller numbers or NaN. Times after about 290 million years become NaN too; `isInside`
 * decides about NaN.
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
  let target = at;
  for (let i = begin; i < end; ) {
    if (i + 4 <= end) {
      const a = times[i]!;
      const b = times[i + 1]!;
      const c = times[i + 2]!;
      const d = times[i + 3]!;
      if (a >= first && a <= last && b >= first && b <= last && c >= first && c <= last && d >= first && d <= last) {
        out[target] = values[i]!;
        out[target + 1] = values[i + 1]!;
        out[target + 2] = values[i + 2]!;
        out[target + 3] = values[i + 3]!;
        target += 4;
        i += 4;
        continue;
      }
    }
    for (const next = Math.min(end, i + 4); i < next; i++) {
      const t = times[i]!;
      out[target] = values[i]!;
      if (t >= first) {
        if (t <= last) target++;
      } else if (Number.isNaN(t) && isInside(i)) target++;
    }
  }
  return target;
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
  let target = at;
  for (let i = begin; i < end; i++) {
    const low = times[2 * i]! ^ SIGN;
    const high = times[2 * i + 1]!;
    if (high < firstHigh || (high === firstHigh && low < from)) continue;
    if (high > lastHigh || (high === lastHigh && low > to)) continue;
    out[stride * target] = values[stride * i]!;
    out[stride * target + stride - 1] = values[stride * i + stride - 1]!;
    target++;
  }
  return target;
}
