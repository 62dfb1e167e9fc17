import { createRequire } from "node:module";
import { createHistogram } from "node:perf_hooks";
import { LocalSeries } from "../../src/entries/index.ts";
import { sortedPercentile } from "./typed-array.ts";

const require = createRequire(import.meta.url);

/** Keeps values, or a summary of them, and answers their p99. */
export interface Sketch {
  record(value: number): void;
  p99(): number;
  close?(): void;
}

export interface SketchRival {
  name: string;
  /** Its promised accuracy, in its own terms. */
  promise: string;
  /** Package that must be installed; none: part of Node or of oriel. */
  module?: string;
  open(count: number): Sketch;
}

/** The histograms hold integers. Values in ms are stored in µs, whose rounding is far below their own error. */
const UNITS = 1000;
const MAX_UNITS = 3_600_000_000;

export const SKETCHES: readonly SketchRival[] = [
  { name: "hdr-histogram-js (WASM)", promise: "3 digits", module: "hdr-histogram-js", open: hdrHistogram },
  { name: "perf_hooks histogram", promise: "3 digits", open: perfHooks },
  { name: "tdigest", promise: "none", module: "tdigest", open: tdigest },
  { name: "@datadog/sketches-js", promise: "1 %", module: "@datadog/sketches-js", open: ddSketch },
  { name: "TypedArray.sort", promise: "exact", open: typedArraySort },
  { name: "oriel LocalSeries", promise: "exact, windowed", open: localSeries },
];

/** Why a rival cannot be used, or undefined when it can. */
export function sketchMissing({ module }: SketchRival): string | undefined {
  try {
    if (module) require.resolve(module);
    return undefined;
  } catch {
    return `${module} is not installed (npm ci in bench/)`;
  }
}

function hdrHistogram(): Sketch {
  const { build, initWebAssemblySync } = require("hdr-histogram-js") as typeof import("hdr-histogram-js");
  initWebAssemblySync();
  const histogram = build({
    useWebAssembly: true,
    lowestDiscernibleValue: 1,
    highestTrackableValue: MAX_UNITS,
    numberOfSignificantValueDigits: 3,
  });
  return {
    record: (value) => histogram.recordValue(Math.round(value * UNITS)),
    p99: () => histogram.getValueAtPercentile(99) / UNITS,
    close: () => histogram.destroy(),
  };
}

function perfHooks(): Sketch {
  const histogram = createHistogram({ lowest: 1, highest: MAX_UNITS, figures: 3 });
  return {
    record: (value) => histogram.record(Math.max(1, Math.round(value * UNITS))),
    p99: () => histogram.percentile(99) / UNITS,
  };
}

function tdigest(): Sketch {
  const { TDigest } = require("tdigest") as typeof import("tdigest");
  const digest = new TDigest();
  return { record: (value) => digest.push(value), p99: () => digest.percentile(0.99) ?? Number.NaN };
}

function ddSketch(): Sketch {
  const { DDSketch } = require("@datadog/sketches-js") as typeof import("@datadog/sketches-js");
  const sketch = new DDSketch({ relativeAccuracy: 0.01 });
  return { record: (value) => sketch.accept(value), p99: () => sketch.getValueAtQuantile(0.99) };
}

/** Keeps all values and sorts them at every query. */
function typedArraySort(count: number): Sketch {
  const values = new Float32Array(count);
  let held = 0;
  return {
    record: (value) => {
      values[held++] = value;
    },
    p99: () => sortedPercentile(values.slice(0, held), 99),
  };
}

/** One event a millisecond, all inside the window. */
function localSeries(count: number): Sketch {
  let nowMs = 1_700_000_000_000;
  const series = new LocalSeries({ retention: 2 * count, clock: () => nowMs });
  return {
    record: (value) => {
      nowMs++;
      series.record(value);
    },
    p99: () => series.stats({ percentiles: [99] }).percentiles[99] as number,
  };
}
