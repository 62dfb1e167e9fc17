import { type Distribution, draw } from "../distributions.ts";
import { SKETCHES, type SketchRival, sketchMissing } from "../rivals/sketch.ts";
import { sortedPercentile } from "../rivals/typed-array.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";

export interface SketchesOptions {
  values: number;
  distributions: readonly Distribution[];
  turns: number;
  /** Queries after the recording, each after one more value. Fewer when they take longer than `longestMs`. */
  questions: number;
  longestMs: number;
}

export const FULL_SKETCHES: SketchesOptions = {
  values: 1_000_000,
  distributions: ["lognormal", "drift"],
  turns: 3,
  questions: 200,
  longestMs: 500,
};
export const SMALL_SKETCHES: SketchesOptions = {
  values: 1_000,
  distributions: ["lognormal"],
  turns: 1,
  questions: 2,
  longestMs: 100,
};

interface Turn {
  recordNs: number;
  questionUs: number;
  p99: number;
}

/** Records every value, then asks for p99 after each further one. Reports speed and error. */
export async function benchSketches(options: SketchesOptions): Promise<Report> {
  const report: Report = {
    bench: "sketches",
    title: `Record ${options.values.toLocaleString("en-US")} values, then p99 after each further one`,
    rows: [],
    notes: [
      "recordNs is the time of one value, including the first query. questionUs is the time of one record and one p99, mean of a turn. Medians over turns. The rivals take turns.",
      "errorPercent: of p99 against the exact, linearly interpolated one. Exact in f32 means 0.",
      "Only LocalSeries drops values older than its window. The others keep every value.",
    ],
  };
  const able = SKETCHES.filter((rival) => {
    const reason = sketchMissing(rival);
    if (reason) report.notes.push(`${rival.name} was skipped: ${reason}.`);
    return !reason;
  });
  for (const distribution of options.distributions) {
    const values = draw(distribution, options.values + options.questions, 31);
    const exact = sortedPercentile(values.slice(), 99);
    const turns = able.map(() => [] as Turn[]);
    for (let turn = 0; turn < options.turns; turn++)
      for (const [i, rival] of able.entries()) turns[i]?.push(takeTurn(rival, values, options));
    report.rows.push(...able.map((rival, i) => rowOf(distribution, rival, turns[i] as Turn[], exact)));
  }
  return report;
}

function takeTurn(rival: SketchRival, values: Float32Array, options: SketchesOptions): Turn {
  const count = options.values;
  const sketch = rival.open(values.length);
  try {
    const startMs = performance.now();
    for (let i = 0; i < count; i++) sketch.record(values[i] as number);
    sketch.p99();
    const recordedMs = performance.now();
    let at = count;
    let nowMs = recordedMs;
    while (at < values.length && (at === count || nowMs - recordedMs < options.longestMs)) {
      sketch.record(values[at++] as number);
      sketch.p99();
      nowMs = performance.now();
    }
    const questionUs = ((nowMs - recordedMs) / (at - count)) * 1e3;
    while (at < values.length) sketch.record(values[at++] as number);
    return { recordNs: ((recordedMs - startMs) / count) * 1e6, questionUs, p99: sketch.p99() };
  } finally {
    sketch.close?.();
  }
}

function rowOf(values: Distribution, { name, promise }: SketchRival, turns: readonly Turn[], exact: number): Row {
  const p99 = turns.at(-1)?.p99 ?? Number.NaN;
  if (promise.startsWith("exact") && p99 !== exact) throw new Error(`${name} answered p99 ${p99}; right is ${exact}`);
  return {
    values,
    by: name,
    promise,
    recordNs: median(turns.map((turn) => turn.recordNs)),
    questionUs: median(turns.map((turn) => turn.questionUs)),
    p99,
    errorPercent: Math.abs(p99 / exact - 1) * 100,
  };
}
