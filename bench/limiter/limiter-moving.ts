import type { LimiterClient, LimiterRival } from "../rivals/limiter/limiter.ts";
import { type Load, operationsPerSecond, runSlice, type Slice } from "../runner/measure.ts";
import type { Row } from "../runner/report.ts";
import { type LimiterMeasured, limiterRows } from "./limiter-rows.ts";
import { NEVER_REACHED } from "./limiter-visits.ts";

/** Some rivals read the server's clock in whole ms. It drifts relative to this process's clock. */
const SLACK_MS = 2;

/** The shortest window of rate-limiter-flexible. */
const SHORTEST_FIXED_MS = 1_000;

export interface MovingOptions {
  callers: number;
  slices: number;
  sliceMs: number;
  spanMs: number;
}

interface Runner extends LimiterMeasured {
  client: LimiterClient;
  limit: number;
}

/**
 * Rows of the exact sliding windows and of the reference, for one id whose window moves. Calls leave it as fast as others
 * are admitted. The limit is half of the calls that each rival decides when all are admitted, measured just before.
 */
export async function benchMoving(
  redisUrl: string,
  rivals: readonly LimiterRival[],
  { callers, slices, sliceMs, spanMs }: MovingOptions,
): Promise<Row[]> {
  const runners: Runner[] = [];
  try {
    for (const rival of rivals) {
      const ownSpanMs = rival.timesLimit === 1 ? spanMs : SHORTEST_FIXED_MS;
      const perSecond = await unlimitedRate(redisUrl, rival, { callers, sliceMs, minOperations: 1 }, ownSpanMs);
      const limit = Math.ceil((perSecond * ownSpanMs) / 2000);
      const client = await rival.open(redisUrl, { limit, spanMs: ownSpanMs });
      runners.push({ rival, client, limit, slices: [], decided: 0, denied: 0 });
    }
    for (let turn = 0; turn <= slices; turn++)
      for (const [i, runner] of runners.entries()) {
        const load = { callers, sliceMs, minOperations: 1 };
        const { slice, admitted } = await checkedSlice(runner, load, `moving ${i}`, spanMs);
        if (turn === 0) continue; // the first turn warms up
        runner.slices.push(slice);
        runner.decided += slice.operations;
        runner.denied += slice.operations - admitted;
      }
  } finally {
    for (const { client } of runners) await client.close();
  }
  return limiterRows("one id, its window moving", runners);
}

async function unlimitedRate(redisUrl: string, rival: LimiterRival, load: Load, spanMs: number): Promise<number> {
  const client = await rival.open(redisUrl, { limit: NEVER_REACHED, spanMs });
  try {
    return operationsPerSecond(await runSlice(load, () => client.take(`unlimited ${rival.name}`)));
  } finally {
    await client.close();
  }
}

async function checkedSlice(
  { rival, client, limit }: Runner,
  load: Load,
  id: string,
  spanMs: number,
): Promise<{ slice: Slice; admitted: number }> {
  const sentMs: number[] = [];
  const answeredMs: number[] = [];
  const slice = await runSlice(load, async () => {
    const nowMs = performance.now();
    if (await client.take(id)) {
      sentMs.push(nowMs);
      answeredMs.push(performance.now());
    }
    return true;
  });
  const most = maxWithin(spanMs - SLACK_MS, sentMs, answeredMs);
  if (rival.timesLimit === 1 && most > limit)
    throw new Error(`${rival.name} admitted ${most} calls in ${spanMs} ms; its limit is ${limit}`);
  return { slice, admitted: sentMs.length };
}

/** The number of calls certainly decided within some stretch of that width: sent after its begin, answered before its end. */
export function maxWithin(widthMs: number, sentMs: ArrayLike<number>, answeredMs: ArrayLike<number>): number {
  const sent = Float64Array.from(sentMs).sort();
  const answered = Float64Array.from(answeredMs).sort();
  let most = 0;
  for (let ended = 0, before = 0; ended < answered.length; ended++) {
    while (sent[before]! < answered[ended]! - widthMs) before++;
    most = Math.max(most, ended + 1 - before); // undercounts calls that were sent before and not answered yet
  }
  return most;
}
