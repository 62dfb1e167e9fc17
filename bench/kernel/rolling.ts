import { forceKernel, rollingPercentile } from "../../src/entries/kernel.ts";
import { draw } from "../distributions.ts";
import { medianRunUs } from "../lock/turns.ts";
import { type RollingLibrary, rollingBy, rollingMissing } from "../rivals/rolling.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";

export interface RollingOptions {
  /** Events in a window. */
  windows: readonly number[];
  turns: number;
  /** Minimum slides of oriel in a run. The rivals make fewer, since their cost is per slide. */
  slides: number;
  rivalSlides: Record<RollingLibrary, number>;
}

export const FULL_ROLLING: RollingOptions = {
  windows: [1_000, 10_000, 100_000, 1_000_000],
  turns: 3,
  slides: 1_000_000,
  rivalSlides: { pandas: 100_000, bottleneck: 1_000_000 },
};
export const SMALL_ROLLING: RollingOptions = {
  windows: [50],
  turns: 1,
  slides: 500,
  rivalSlides: { pandas: 500, bottleneck: 500 },
};

const LIBRARIES: readonly RollingLibrary[] = ["pandas", "bottleneck"];
const FORMS = ["js", "wasm-scalar", "wasm-simd"] as const;

/** A percentile at every event of a full window. The time includes the first windows. */
export async function benchRolling(options: RollingOptions): Promise<Report> {
  const report: Report = {
    bench: "rolling",
    title: "A percentile at every event (rolling window, lognormal values, one event a ms)",
    rows: [],
    notes: [
      "nanosecondsPerSlide is the time of the whole call over the events with a full window. It includes ranking, times and the array of answers.",
      "timesFaster… is the rival's time per slide over this line's, median over alternating turns. Both rivals work on f64.",
      "bottleneck has the median only. The last answers of the rivals were compared with ours.",
      "wasm-scalar runs the same code as wasm-simd: scattered stores and words of bits do not vectorise.",
    ],
  };
  const able = LIBRARIES.filter((library) => {
    const reason = rollingMissing(library);
    if (reason) report.notes.push(`${library} was skipped: ${reason}.`);
    return !reason;
  });
  for (const window of options.windows)
    for (const percentile of [50, 99]) report.rows.push(...(await benchWindow(window, percentile, able, options)));
  return report;
}

async function benchWindow(
  window: number,
  percentile: number,
  able: readonly RollingLibrary[],
  options: RollingOptions,
): Promise<Row[]> {
  const rivals = able.filter((library) => library === "pandas" || percentile === 50);
  const count = Math.max(options.slides, 3 * window) + window;
  const single = draw("lognormal", count, 21);
  // Doubles with significant last bits.
  const columns = { f32: single, f64: Float64Array.from(single, (x, i) => x * (1 + (i % 1013) * 2 ** -40)) };
  const times = BigInt64Array.from(single, (_, i) => BigInt(i));
  const ours = (Object.keys(columns) as (keyof typeof columns)[]).flatMap((type) =>
    FORMS.map((form) => ({ type, form, nanoseconds: [] as number[] })),
  );
  const theirs = new Map(rivals.map((library) => [library, [] as number[]]));
  for (let turn = 0; turn < options.turns; turn++) {
    for (const library of rivals) {
      const slice = single.subarray(0, Math.min(count, window + options.rivalSlides[library]));
      const { nanosecondsPerSlide, answers } = await rollingBy(library, slice, window, percentile, 1);
      theirs.get(library)?.push(nanosecondsPerSlide);
      if (turn === 0) checkAnswers(library, slice, window, percentile, answers);
    }
    for (const { type, form, nanoseconds } of ours) {
      forceKernel(form);
      const run = () => rollingPercentile(times, columns[type], { span: window, percentiles: [percentile] });
      run(); // each change recompiles the form, and the first call of WebAssembly runs unoptimised code
      nanoseconds.push((medianRunUs(3, run) * 1000) / (count - window + 1));
    }
    forceKernel(null);
  }
  const row = (by: string, type: string, nanoseconds: readonly number[]): Row => ({
    window,
    percentile,
    by,
    type,
    nanosecondsPerSlide: median(nanoseconds),
    timesFasterPandas: timesFaster(theirs.get("pandas"), nanoseconds),
    timesFasterBottleneck: timesFaster(theirs.get("bottleneck"), nanoseconds),
  });
  return [
    ...[...theirs].map(([library, nanoseconds]) => row(library, "f64", nanoseconds)),
    ...ours.map(({ form, type, nanoseconds }) => row(form, type, nanoseconds)),
  ];
}

function timesFaster(rival: readonly number[] | undefined, nanoseconds: readonly number[]): number {
  return rival === undefined ? Number.NaN : median(rival.map((ns, turn) => ns / (nanoseconds[turn] as number)));
}

/** The rivals interpolate differently, so answers agree within a few units in the last place. */
function checkAnswers(
  library: string,
  values: Float32Array,
  window: number,
  p: number,
  answers: readonly number[],
): void {
  const times = Float64Array.from(values, (_, i) => i);
  const right = rollingPercentile(times, values, { span: window, percentiles: [p] })[p]?.slice(-answers.length) ?? [];
  if (answers.length === 0 || answers.some((answer, i) => !(Math.abs(answer / (right[i] as number) - 1) < 1e-12)))
    throw new Error(`${library} answered ${answers}; ours are ${right}`);
}
