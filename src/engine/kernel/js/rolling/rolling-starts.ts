import type { Scan, Windows } from "../../contract.ts";

const WORD = 2 ** 32;

/** Times of the current events, in ms after the first time of the column. */
let since = new Float64Array();

/** The JavaScript form of assembly/rolling/rolling-starts.ts. */
export function starts(windows: Windows, from: number, to: number, scan: Scan, out: Uint32Array): number {
  const { times, spanMs, both } = windows;
  const done =
    times instanceof Float64Array
      ? write(times, spanMs, both, from, to, scan, out)
      : writeLong(times, spanMs, both, from, to, scan, out);
  for (let i = from; i < done; i++) {
    const events = i + 1 - out[i - from]!;
    if (events < scan.fewest) scan.fewest = events;
    if (events > scan.most) scan.most = events;
  }
  return done;
}

function write(
  times: Float64Array,
  spanMs: number,
  both: boolean,
  from: number,
  to: number,
  scan: Scan,
  out: Uint32Array,
): number {
  // A separate pass. One loop for both takes twice as long.
  let before = from === 0 ? Number.NEGATIVE_INFINITY : times[from - 1]!;
  for (let i = from; i < to; i++) {
    const now = times[i]!;
    if (!(now >= before && now - now === 0)) return i;
    before = now;
  }
  let { start } = scan;
  for (let i = from; i < to; i++) {
    const cutoff = times[i]! - spanMs;
    while (start < i && (times[start]! < cutoff || (!both && times[start]! === cutoff))) start++;
    out[i - from] = start;
  }
  scan.start = start;
  return to;
}

/** The same for i64 times, read as two words to avoid a BigInt each. Relative to the first time, f64 is exact. */
function writeLong(
  times: BigInt64Array,
  spanMs: number,
  both: boolean,
  from: number,
  to: number,
  scan: Scan,
  out: Uint32Array,
): number {
  const low = new Uint32Array(times.buffer, times.byteOffset, times.length * 2);
  const high = new Int32Array(times.buffer, times.byteOffset, times.length * 2);
  const [firstLow, firstHigh] = [low[0]!, high[1]!];
  const length = to - from;
  if (since.length < length) since = new Float64Array(length);
  let before = from === 0 ? 0 : (high[2 * from - 1]! - firstHigh) * WORD + (low[2 * from - 2]! - firstLow);
  for (let j = 0, i = 2 * from; j < length; j++, i += 2) {
    const now = (high[i + 1]! - firstHigh) * WORD + (low[i]! - firstLow);
    if (!(now >= before)) return from + j;
    since[j] = now;
    before = now;
  }
  // Times are whole ms: t < x is t <= x - 1.
  const backMs = both ? spanMs + 1 : spanMs;
  let { start } = scan;
  let oldest = (high[2 * start + 1]! - firstHigh) * WORD + (low[2 * start]! - firstLow);
  for (let j = 0; j < length; j++) {
    const cutoff = since[j]! - backMs;
    while (oldest <= cutoff) {
      start++;
      oldest = (high[2 * start + 1]! - firstHigh) * WORD + (low[2 * start]! - firstLow);
    }
    out[j] = start;
  }
  scan.start = start;
  return to;
}
