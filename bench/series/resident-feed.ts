import type { IndexLimits } from "../../src/engine/stats/wavelet/window-index.ts";
import { LocalSeries } from "../../src/entries/index.ts";

const START_MS = 1_700_000_000_000;
/** A pause is the time of this many events. */
const PAUSE_EVENTS = 1024;

/** A series whose window of `spanMs` holds one event a millisecond, with its clock. */
export class Feed {
  nowMs = START_MS;
  readonly spanMs: number;
  readonly series: LocalSeries;
  readonly #values: Float32Array;
  #at = 0;

  /** `values`: as many as the window holds, then those that are appended later. */
  constructor(
    values: Float32Array,
    spanMs: number,
    type: "float32" | "float64" = "float32",
    indexLimits?: IndexLimits,
    compact = false,
  ) {
    this.#values = values;
    this.spanMs = spanMs;
    const options = { retention: spanMs, values: type, compact, clock: () => this.nowMs };
    this.series = new LocalSeries(options, undefined, indexLimits);
  }

  /** Records one event a millisecond later. */
  next(): void {
    this.nowMs++;
    this.series.record(this.#values[this.#at++] as number);
  }

  fill(): this {
    for (let i = 0; i < this.spanMs; i++) this.next();
    return this;
  }

  /** The times of the first window: one event a millisecond, the last one now. */
  times(): BigInt64Array {
    return BigInt64Array.from({ length: this.spanMs }, (_, i) => BigInt(START_MS + i + 1));
  }
}

export interface Ingest {
  elapsedMs: number;
  longestPauseMs: number;
}

/** Fills a window in frames of `frame` events (1: by `record`) and queries it once at the end. */
export function ingest(values: Float32Array, frame: number): Ingest {
  const feed = new Feed(values, values.length);
  // One frame is reused. Half a million frames would cause the garbage collector's pauses by themselves.
  const buffer = new Float32Array(frame);
  const steps = Math.ceil(values.length / frame);
  const stepsPerPause = Math.max(1, PAUSE_EVENTS / frame);
  let longestPauseMs = 0;
  const startMs = performance.now();
  let pauseStartMs = startMs;
  for (let step = 0; step < steps; ) {
    const end = Math.min(steps, step + stepsPerPause);
    if (frame === 1) for (; step < end; step++) feed.next();
    else for (; step < end; step++) recordFrame(feed, filled(buffer, values, step * frame));
    const nowMs = performance.now();
    longestPauseMs = Math.max(longestPauseMs, nowMs - pauseStartMs);
    pauseStartMs = nowMs;
  }
  feed.series.stats();
  return { elapsedMs: performance.now() - startMs, longestPauseMs };
}

/** The next values in `buffer`, or in a new array where fewer are left. */
function filled(buffer: Float32Array, values: Float32Array, from: number): Float32Array {
  if (from + buffer.length > values.length) return values.slice(from);
  for (let i = 0; i < buffer.length; i++) buffer[i] = values[from + i] as number;
  return buffer;
}

function recordFrame(feed: Feed, values: Float32Array): void {
  feed.nowMs += values.length;
  feed.series.recordMany(values);
}
