import { type Outcome, playSchedule } from "./schedule.ts";

/** Sums of many schedules, in one line. */
export function tallyOf(all: readonly Outcome[]): string {
  const sum = (of: (one: Outcome) => number) => all.reduce((total, one) => total + of(one), 0);
  const failed = all.filter(({ violations }) => violations.length > 0).map(({ seed }) => seed);
  const reported =
    failed.length === 0 ? "0 failed" : `${failed.length} failed (seeds ${failed.slice(0, 10).join(" ")})`;
  return (
    `counters: ${all.length} schedules, ${reported}, ${sum((one) => one.acknowledged)} adds acknowledged, ` +
    `${sum((one) => one.drained)} generations drained, ${sum((one) => one.failovers)} failovers, ` +
    `${sum((one) => one.diverged)} shards reported as diverged, ${sum((one) => one.losses)} losses reported`
  );
}

const TRACE_LINES = 80;

/** What broke, and the way there. */
export async function explain({ seed, violations }: Outcome): Promise<string> {
  const { trace } = await playSchedule(seed, { tracing: true });
  const first = trace.findIndex((line) => line.includes("VIOLATION"));
  const shown = trace.slice(Math.max(1, first - TRACE_LINES), first + 1).map((line) => line.slice(0, 300));
  return `seed ${seed}:\n  ${violations.join("\n  ")}\n${trace[0]}\n${shown.join("\n")}\nORIEL_SEED=${seed} replays it`;
}
