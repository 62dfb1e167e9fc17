import { expect } from "vitest";
import { Series, type SeriesOptions } from "../../../src/entries/index.ts";
import { counted } from "../../series/cold-journal.ts";
import { type OpenStore, onMemory, onRedis6, tables } from "../../series/contract/stores.ts";
import { rankErrorOf } from "../../stats/oracle.ts";

export const NAME = "summed up";
export const OPTIONS = { values: "float64", retention: "60s" } as const;
const PERCENTILES = [0, 1, 25, 50, 90, 99, 99.9, 100];

/** Stores to ask, and how many random journals each is worth. */
export const STORES: [name: string, open: () => Promise<OpenStore>, numRuns: number][] = [
  ["memory", onMemory, 60],
  ["redis", onRedis6, 25],
  ["redis over HTTP", tables.find(({ name }) => name === "redis over HTTP")!.open, 10],
];

/** Compares the answer for a reader without a copy with the exact one. True if a summary was used. */
export async function compare(
  opened: OpenStore,
  spanMs: number,
  rankError: number,
  at?: number,
  options: SeriesOptions = OPTIONS,
): Promise<boolean> {
  const { asked, store } = counted(opened.store);
  const [near, exact] = [store, opened.other].map((each) => new Series(each, NAME, options)) as [Series, Series];
  const window = at === undefined ? { span: spanMs } : { span: spanMs, at };
  const question = { ...window, percentiles: PERCENTILES };
  const got = await near.stats({ ...question, approximate: { rankError } });
  const expected = await exact.stats(question);
  const values = [...(await exact.values(window))].filter((x) => !Number.isNaN(x)).sort((a, b) => a - b);
  const isSpoilt = Number.isNaN(expected.percentiles[50]);
  expect(Number.isNaN(got.percentiles[50])).toBe(isSpoilt);
  await Promise.all([near.close(), exact.close()]);
  const { approximate, ...stats } = got;
  expect(approximate!.rankError).toBeLessThanOrEqual(rankError);
  expect(Math.abs(got.count - expected.count)).toBeLessThanOrEqual(approximate!.events);
  for (const p of !isSpoilt && approximate!.rankError > 0 ? PERCENTILES : [])
    expect(rankErrorOf(values, got.percentiles[p]!, p)).toBeLessThanOrEqual(approximate!.rankError + 1e-12);
  const keep = ["from", "to", "degraded", "degradedBy"] as const;
  if (approximate!.events === 0) {
    for (const name of [...keep, "count", "min", "max"] as const) expect(stats[name]).toEqual(expected[name]);
    for (const name of ["sum", "mean", "variance", "std"] as const) {
      const isNear = Math.abs(stats[name] - expected[name]) <= 1e-9 * (1 + Math.abs(expected[name]));
      expect(isNear || Object.is(stats[name], expected[name])).toBe(true);
    }
  } else for (const name of keep) expect(stats[name]).toEqual(expected[name]);
  if (approximate!.rankError === 0) expect(stats.percentiles).toEqual(expected.percentiles);
  return approximate!.rankError > 0 && !asked.includes("journal/read-window");
}
