import { takeTurns } from "./lock/turns.ts";
import { BARE, BREAKER_RIVALS, type BreakerRival, LOCAL } from "./rivals/breaker.ts";
import type { Report } from "./runner/report.ts";

export interface BreakerBench {
  /** Calls in a turn, one after the other. */
  calls: number;
  turns: number;
}

export const FULL_BREAKER: BreakerBench = { calls: 100_000, turns: 7 };
export const SMALL_BREAKER: BreakerBench = { calls: 200, turns: 2 };

/** Failing calls after which each rival must be open. */
/** A breaker that has not opened after this time does not open. */
const LONGEST_MS = 30_000;
const FAILING = 2000;

/** Measures the cost of a call through a closed breaker. */
export async function benchBreaker(redisUrl: string, { calls, turns }: BreakerBench): Promise<Report> {
  const able = BREAKER_RIVALS.filter((rival) => rival.missing() === undefined);
  const skipped = BREAKER_RIVALS.flatMap((rival) => rival.missing() ?? []);
  for (const rival of able) await verify(rival, redisUrl);
  const opened = able.map(({ name, open }) => ({ name, breaker: open(redisUrl) }));
  const contenders = opened.map(({ name, breaker: { run } }) => ({ name, turnUs: () => turnUs(run, calls) }));
  for (const { turnUs: warmUp } of contenders) await warmUp();
  const taken = await takeTurns(contenders, turns);
  for (const { breaker } of opened) await breaker.close();
  return {
    bench: "breaker",
    title: "Circuit breakers: a call that is let through",
    rows: able.map(({ name }) => ({
      breaker: name,
      nsPerCall: taken.medianUs(name) * 1000,
      nsForBreaker: (taken.medianUs(name) - taken.medianUs(BARE.name)) * 1000,
      timesFasterThan: taken.timesFaster(LOCAL.name, name),
    })),
    notes: [
      "Calls of an async function one after the other, mean of a turn, median over turns; the breakers take turns.",
      "timesFasterThan: how many times faster oriel is in one process. Shared: over a real Redis, which it asks every 100 ms.",
      "Each was seen to open when calls fail, before it was timed.",
      ...skipped.map((reason) => `skipped: ${reason}`),
    ],
  };
}

async function turnUs(run: (task: () => Promise<number>) => Promise<number>, calls: number): Promise<number> {
  let sum = 0;
  const task = async () => 1;
  const startMs = performance.now();
  for (let i = 0; i < calls; i++) sum += await run(task);
  const elapsedMs = performance.now() - startMs;
  if (sum !== calls) throw new Error(`${sum} of ${calls} calls were let through`);
  return (elapsedMs * 1000) / calls;
}

/** Ends the bench where a breaker does not open. */
async function verify(rival: BreakerRival, redisUrl: string): Promise<void> {
  const { run, close } = rival.open(redisUrl);
  let called = 0;
  const task = async () => {
    called++;
    throw new Error("bad");
  };
  const endMs = performance.now() + LONGEST_MS;
  const goesOn = (asked: number) => asked < FAILING || (rival !== BARE && performance.now() < endMs);
  let asked = 0;
  while (called === asked && goesOn(asked)) {
    await run(task).catch(() => {});
    // A shared breaker learns of it from an answer, which a new connection brings late.
    if (asked++ % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  await close();
  if (rival !== BARE && called === asked) throw new Error(`${rival.name} let all of ${asked} failing calls through`);
}
