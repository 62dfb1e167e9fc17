import { type Measured, type Row, show } from "../runner/report.ts";

/** The table of README.md. Undefined if the run lacks one of its benches. */
export function firstNumbers({ reports }: Measured): string | undefined {
  const rowsOf = (bench: string, isWanted: (row: Row) => boolean) =>
    reports.filter((report) => report.bench === bench).flatMap(({ rows }) => rows.filter(isWanted));
  const windows = rowsOf("windows", ({ events, callers }) => events === 1_000_000 && callers === 1000);
  const own = windows.find(({ rival }) => rival === "oriel");
  const sets = windows.filter(({ rival }) => String(rival).startsWith("V1")).map((row) => Number(row.opsPerSecond));
  const limits = rowsOf(
    "limiters",
    ({ load, limiter }) => /^10.?000 ids, (all|half)/.test(String(load)) && limiter === "oriel exact sliding window",
  ).map(({ timesFaster }) => Number(timesFaster));
  const [free] = rowsOf("lock", ({ load, lock }) => load === "1 × 1" && lock === "redis-semaphore");
  if (!own || sets.length === 0 || limits.length === 0 || !free) return undefined;
  const limited = [...new Set([Math.min(...limits), Math.max(...limits)].map(twoDigits))].join(" to ");
  return `| work | oriel | against | repeat with |
|---|---|---|---|
| record an event and read the p99 of 1 million, 1000 callers | ${show(own.opsPerSecond)} a second | a sorted set, which only counts: ${show(Math.max(...sets))} | \`npm run bench -- --only windows\` |
| a rate limit over 10 000 ids, exact | ${limited} times | rate-limiter-flexible's fixed window | \`npm run bench -- --only limiters\` |
| acquire and release a free lock, with a fence | ${twoDigits(Number(free.timesSlower))} times | redis-semaphore, without a fence | \`npm run bench -- --only lock\` |`;
}

function twoDigits(value: number): string {
  return String(Number(value.toPrecision(2)));
}
