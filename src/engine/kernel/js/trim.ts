import type { Column } from "../contract.ts";

/** The JavaScript form of assembly/selection/trim.ts. On 32-bit words it creates no BigInt, and keeps NaN payloads. */
export function trim(
  times: BigInt64Array,
  values: Column,
  first: bigint,
  last: bigint,
): { times: BigInt64Array; values: Column } {
  const count = times.length;
  const stride = values instanceof Float32Array ? 1 : 2;
  const keptTimes = new BigInt64Array(count);
  const keptValues = stride === 1 ? new Float32Array(count) : new Float64Array(count);
  const low = new Uint32Array(times.buffer, times.byteOffset, count * 2);
  const high = new Int32Array(times.buffer, times.byteOffset, count * 2);
  const words = new Uint32Array(values.buffer, values.byteOffset, count * stride);
  const timesOut = new Uint32Array(keptTimes.buffer);
  const wordsOut = new Uint32Array(keptValues.buffer);
  const firstHigh = Number(first >> 32n);
  const firstLow = Number(first & 0xffffffffn);
  const lastHigh = Number(last >> 32n);
  const lastLow = Number(last & 0xffffffffn);
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const h = high[2 * i + 1]!;
    const l = low[2 * i]!;
    if (h < firstHigh || (h === firstHigh && l < firstLow)) continue;
    if (h > lastHigh || (h === lastHigh && l > lastLow)) continue;
    timesOut[2 * kept] = l;
    timesOut[2 * kept + 1] = h;
    wordsOut[stride * kept] = words[stride * i]!;
    if (stride === 2) wordsOut[2 * kept + 1] = words[2 * i + 1]!;
    kept++;
  }
  return { times: keptTimes.slice(0, kept), values: keptValues.slice(0, kept) };
}
