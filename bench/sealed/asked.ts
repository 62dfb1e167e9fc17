import { Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { countingStore } from "../../test/harness/counting-store.ts";
import { sortedPercentile } from "../rivals/typed-array.ts";

export const PERCENTILES = [50, 90, 99] as const;

const OPTIONS = { retention: "3h" } as const;

/** Whether it reads all events, as for several series, or outlines, or outlines for count, sum, mean and extremes only. */
export type Plan = "copy" | "outlines" | "moments";

/** The answer by a sort of all values. */
export interface Right {
  count: number;
  percentiles: number[];
}

export function rightOf(column: Float32Array): Right {
  const sorted = column.slice();
  return { count: column.length, percentiles: PERCENTILES.map((p) => sortedPercentile(sorted, p)) };
}

export interface Asked {
  requests: number;
  /** Bytes of the answers of the store. */
  bytes: number;
  ms: number;
  percentiles: number[];
}

/** One query of a process without a copy. It throws unless the answer is exactly the right one. */
export async function ask(store: Store, name: string, right: Right, plan: Plan): Promise<Asked> {
  const counting = countingStore(store);
  const series = new Series(counting.store, name, OPTIONS);
  const startMs = performance.now();
  const query = { percentiles: plan === "moments" ? [] : [...PERCENTILES] };
  const { count, percentiles } = await (plan === "copy" ? Series.stats([series], query) : series.stats(query));
  const ms = performance.now() - startMs;
  await series.close();
  if (count !== right.count) throw new Error(`${plan} counted ${count} of ${right.count} events`);
  const found = query.percentiles.map((p) => percentiles[p]!);
  for (const [i, value] of found.entries())
    if (value !== right.percentiles[i])
      throw new Error(`${plan} answered ${value} as p${PERCENTILES[i]}, not ${right.percentiles[i]}`);
  return { requests: counting.requests(), bytes: counting.bytes(), ms, percentiles: found };
}
