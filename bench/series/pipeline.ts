import { type ColumnStats, kernel } from "../../src/entries/kernel.ts";
import { type Distribution, draw, shuffled } from "../distributions.ts";
import { medianRunUs } from "../lock/turns.ts";
import { NumpyProcess, numpyMissing } from "../rivals/python/numpy.ts";
import { type PlainAnswer, typedArrayPipeline } from "../rivals/typed-array.ts";
import { type Contest, compareForms, type Effort } from "../runner/forms.ts";
import type { Report, Row } from "../runner/report.ts";
import { benchSelection } from "../runner/selection.ts";

export interface PipelineOptions extends Effort {
  events: number;
  distributions: readonly Distribution[];
}

export const FULL_PIPELINE: PipelineOptions = {
  events: 1_000_000,
  distributions: ["lognormal", "uniform", "ties", "drift"],
  turns: 5,
  repetitions: 5,
};
export const SMALL_PIPELINE: PipelineOptions = {
  events: 2_000,
  distributions: ["lognormal", "ties"],
  turns: 1,
  repetitions: 2,
};

const NUMPY = "NumPy";
const SORT = "TypedArray.sort";

/** P1: count, sum, mean, p99. P2: also min, max, std, p50 and p90. */
const PIPELINES = { p1: [99], p2: [50, 90, 99] } as const;
type Pipeline = keyof typeof PIPELINES;

/** The columns, the order of their times, and the window. */
interface Case {
  sorted: boolean;
  times: BigInt64Array;
  values: Float32Array;
  fromMs: number;
  toMs: number;
}

/** Trim, sum, mean and p99 of columns in JavaScript's memory, without any cached state. */
export async function benchPipeline(options: PipelineOptions): Promise<Report> {
  const report: Report = {
    bench: "pipeline",
    title: `One-shot statistics in a window of ${options.events.toLocaleString("en-US")} f32 with i64 times`,
    rows: [],
    notes: [
      "A hundredth of the events is too old. Copying into WASM counts. NumPy is hot, in its own process, on the same bytes.",
      "TypedArray.sort: a loop in plain JavaScript over f64 times, then sort.",
      "p1 is trim, sum, mean and p99. p2 adds min, max, std, p50 and p90. oriel's call always returns all moments.",
      "SIMD does not speed up the copy into WASM, and barely the selection inside the brackets. It helps counting and collecting most.",
      "timesFaster… is the rival's time over this line's, median over turns (timesFasterNumpy takes partition's for p99 alone, timesFasterSort TypedArray's). …Twin compares with the JS form, both measured against NumPy, or against the sort where NumPy is missing.",
      "All answers were checked. Every form gives the same. With compat numpy, those of p2 equal NumPy's bit for bit.",
    ],
  };
  const reason = numpyMissing();
  if (reason) report.notes.push(`NumPy was skipped: ${reason}.`);
  const numpy = reason ? undefined : new NumpyProcess();
  try {
    for (const distribution of options.distributions) {
      const labels = { values: distribution };
      const values = draw(distribution, options.events, 12);
      for (const sorted of [true, false]) {
        const data = caseOf(values, sorted);
        await numpy?.load(data.times, values);
        for (const pipeline of ["p1", "p2"] as const)
          report.rows.push(...(await benchCase(pipeline, labels, data, numpy, options)));
      }
      report.rows.push(...(await benchSelection(labels, values, numpy, options)));
    }
  } finally {
    numpy?.close();
  }
  return report;
}

function caseOf(values: Float32Array, sorted: boolean): Case {
  const events = values.length;
  const order = sorted ? undefined : shuffled(events, 11);
  const startMs = 1_700_000_000_000;
  const times = BigInt64Array.from({ length: events }, (_, i) => BigInt(startMs + (order?.[i] ?? i)));
  return { sorted, times, values, fromMs: startMs + Math.floor(events / 100) - 1, toMs: startMs + events };
}

async function benchCase(
  pipeline: Pipeline,
  labels: Row,
  data: Case,
  numpy: NumpyProcess | undefined,
  effort: Effort,
): Promise<Row[]> {
  const { times, values, fromMs, toMs } = data;
  const plain = typedArrayPipeline(times, values, fromMs, toMs);
  const right = plain();
  const byNumpy = (await numpy?.run("p2", fromMs, toMs, 1))?.answers;
  let common: ColumnStats | undefined;
  const contest: Contest = {
    labels: { ...labels, computation: `${pipeline}, ${data.sorted ? "sorted" : "unsorted"} times` },
    rivals: [{ name: SORT, turnUs: () => medianRunUs(1, plain) }],
    numpy: NUMPY,
    sort: SORT,
    ours: () => ours(data, pipeline),
    check(form) {
      const answer = ours(data, pipeline);
      common ??= answer;
      checkAnswer(form, answer, right, common);
      if (byNumpy) checkNumpy(form, data, byNumpy);
    },
  };
  if (numpy) {
    const turnUs = async () => (await numpy.run(pipeline, fromMs, toMs, effort.repetitions)).nanoseconds / 1000;
    contest.rivals = [{ name: NUMPY, turnUs }, ...contest.rivals];
  }
  return compareForms(contest, effort);
}

function ours({ times, values, fromMs, toMs, sorted }: Case, pipeline: Pipeline): ColumnStats {
  return kernel.stats(times, values, fromMs, { until: toMs, sorted, percentiles: PIPELINES[pipeline] });
}

/** oriel's sum is exact and the same (`common`) in every form. The plain loop rounds its sum at every step. */
function checkAnswer(form: string, ours: ColumnStats, plain: PlainAnswer, common: ColumnStats): void {
  const same = JSON.stringify(ours) === JSON.stringify(common);
  const right = Math.abs(ours.sum / plain.sum - 1) < 1e-9 && ours.count === plain.count;
  if (!same || !right || ours.percentiles[99] !== plain.p99)
    throw new Error(`${form} answered ${JSON.stringify(ours)}; right is ${JSON.stringify(plain)}`);
}

function checkNumpy(form: string, { times, values, fromMs, toMs, sorted }: Case, expected: readonly number[]): void {
  const { count, sum, mean, min, max, std, percentiles } = kernel.stats(times, values, fromMs, {
    until: toMs,
    sorted,
    compat: "numpy",
  });
  const answers = [count, sum, mean, min, max, std, percentiles[50], percentiles[90], percentiles[99]];
  if (answers.some((answer, i) => answer !== expected[i]))
    throw new Error(`${form} answered ${answers} in NumPy's way; NumPy answered ${expected}`);
}
