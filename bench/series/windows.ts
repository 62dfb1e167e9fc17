import { latencies } from "../events.ts";
import { RIVALS } from "../rivals/all.ts";
import { oriel } from "../rivals/oriel.ts";
import { median, operationsPerSecond, percentile, type Slice } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";
import { Runner } from "../runner/runner.ts";

export interface WindowsOptions {
  /** Events in the window when a slice begins. */
  sizes: number[];
  callers: number[];
  /** Measured slices of each rival per line; the rivals take turns, since a machine's speed drifts. */
  slices: number;
  sliceMs: number;
  /** A slice lasts until this many operations are done, however slow the rival. */
  minOperations: number;
}

export const FULL_WINDOWS: WindowsOptions = {
  sizes: [1_000, 100_000, 1_000_000],
  callers: [1, 50, 1_000],
  slices: 5,
  sliceMs: 400,
  minOperations: 1,
};
export const SMALL_WINDOWS: WindowsOptions = {
  sizes: [50],
  callers: [1, 8],
  slices: 1,
  sliceMs: 10,
  minOperations: 1,
};

/** No event leaves the window during a run, so every count can be checked. */
const WINDOW_MS = 3_600_000;

/** Record one event and get the window's statistics, one key, closed-loop callers in one process. */
export async function benchWindows(
  redisUrl: string,
  options: WindowsOptions,
  progress: (line: string) => void = () => {},
): Promise<Report> {
  const report: Report = {
    bench: "windows",
    title: "Record one event and answer for its window (one key, one process, one Redis)",
    rows: [],
    notes: [
      "V1 and V2 answer a count only; V3 and oriel answer count, sum, mean and p99. V1's counts are not exact under concurrency.",
      "timesSlower: oriel's operations per second over this line's, median over slices that the rivals ran in turn.",
      "Callers that still wait for a lock at the end of a slice are cancelled and not counted. refused counts calls that got no lock within 10 s.",
      "The window is 1 h and nothing expires during a run: V1 and V2 never pay for trimming. Every last answer was checked against every added event.",
    ],
  };
  const able = RIVALS.filter((rival) => {
    const reason = rival.missing();
    if (reason) report.notes.push(`${rival.name} was skipped: ${reason}.`);
    return !reason;
  });
  for (const size of options.sizes) {
    const preload = latencies(size, 1);
    const runners = able.map((rival) => new Runner(rival, redisUrl, WINDOW_MS, preload));
    try {
      for (const callers of options.callers) {
        progress(`windows of ${size} events, ${callers} callers`);
        report.rows.push(...(await benchLoad(runners, size, callers, options)));
      }
    } finally {
      for (const runner of runners) await runner.close();
    }
  }
  return report;
}

async function benchLoad(runners: Runner[], size: number, callers: number, options: WindowsOptions): Promise<Row[]> {
  const slices = new Map<Runner, Slice[]>(runners.map((runner) => [runner, []]));
  for (let turn = 0; turn <= options.slices; turn++) {
    for (const runner of runners) {
      await runner.prepare();
      const slice = await runner.slice({ ...options, callers });
      if (turn > 0) slices.get(runner)?.push(slice); // the first turn warms up
    }
  }
  for (const runner of runners) await runner.verify();
  const reference = slices.get(runners.find((runner) => runner.rival === oriel) as Runner) as Slice[];
  return runners.map((runner) => row(runner, size, callers, slices.get(runner) as Slice[], reference));
}

function row(runner: Runner, size: number, callers: number, slices: Slice[], reference: Slice[]): Row {
  const latenciesMs = slices.flatMap((slice) => slice.latenciesMs);
  const rates = slices.map(operationsPerSecond);
  return {
    events: size,
    callers,
    rival: runner.rival.name,
    opsPerSecond: median(rates),
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
    timesSlower: median(rates.map((rate, turn) => operationsPerSecond(reference[turn] as Slice) / rate)),
    bytesPerEvent: runner.bytesPerEvent,
    operations: latenciesMs.length,
    refused: slices.reduce((total, slice) => total + slice.refused, 0),
    note: runner.note,
    checksum: runner.checksum,
  };
}
