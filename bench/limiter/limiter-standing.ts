import type { LimiterClient, LimiterRival } from "../rivals/limiter/limiter.ts";
import { type Load, runSlice, type Slice } from "../runner/measure.ts";
import type { Row } from "../runner/report.ts";
import { type LimiterMeasured, limiterRows } from "./limiter-rows.ts";
import { type LimiterLoad, LimiterVisits, limitOf } from "./limiter-visits.ts";

/** During a bench no window ends and no bucket leaks a permit, so the number of admitted calls is known exactly. */
const SPAN_MS = 21 * 86_400_000;

interface Runner extends LimiterMeasured {
  client: LimiterClient;
  visits: LimiterVisits;
}

/** Rows of all rivals for one load with windows that do not end. */
export async function benchStanding(
  redisUrl: string,
  rivals: readonly LimiterRival[],
  load: LimiterLoad,
  options: { callers: number; slices: number; sliceMs: number },
): Promise<Row[]> {
  const { callers, slices, sliceMs } = options;
  const runners: Runner[] = [];
  try {
    for (const [i, rival] of rivals.entries()) {
      const client = await rival.open(redisUrl, { limit: limitOf(load), spanMs: SPAN_MS });
      runners.push({ rival, client, visits: new LimiterVisits(load, `user ${i}`), slices: [], decided: 0, denied: 0 });
    }
    for (let turn = 0; turn <= slices; turn++)
      for (const runner of runners) {
        const minOperations = turn === 0 ? runner.visits.warmUp : runner.visits.wholeLife;
        const { slice, admitted } = await checkedSlice(runner, { callers, sliceMs, minOperations });
        if (turn === 0) continue; // the first turn warms up
        runner.slices.push(slice);
        runner.decided += slice.operations;
        runner.denied += slice.operations - admitted;
      }
  } finally {
    for (const { client } of runners) await client.close();
  }
  return limiterRows(nameOf(load), runners);
}

/** Runs a slice and checks that exactly the expected number of calls was admitted. */
async function checkedSlice(
  { rival, client, visits }: Runner,
  load: Load,
): Promise<{ slice: Slice; admitted: number }> {
  const dueBefore = visits.due;
  let admitted = 0;
  const slice = await runSlice(load, async () => {
    if (await client.take(visits.next())) admitted++;
    return true;
  });
  const due = visits.due - dueBefore;
  if (admitted !== due)
    throw new Error(`${rival.name} admitted ${admitted} of ${slice.operations} calls; right is ${due}`);
  return { slice, admitted };
}

function nameOf({ keys, denies }: LimiterLoad): string {
  const ids = keys === 1 ? "one id" : `${keys.toLocaleString("en-US")} ids`;
  return `${ids}, ${denies === "none" ? "all admitted" : "half denied"}`;
}
