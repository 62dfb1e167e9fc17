import { Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { countingStore } from "../../test/harness/counting-store.ts";
import { sortedPercentile } from "../rivals/typed-array.ts";

export const PERCENTILES = [50, 90, 99] as const;

const OPTIONS = { retention: "2h", seal: true } as const;

export type Where = "client" | "server";

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
export async function ask(store: Store, name: string, right: Right, where: Where): Promise<Asked> {
  const asked = await query(store, name, right, { where });
  for (const [i, value] of asked.percentiles.entries())
    if (value !== right.percentiles[i])
      throw new Error(`${where} answered ${value} as p${PERCENTILES[i]}, not ${right.percentiles[i]}`);
  return asked;
}

/** The same from the summary that the series publishes, with its error. */
export async function askSummary(store: Store, name: string, right: Right, rankError: number): Promise<Asked> {
  const writer = new Series(store, name, OPTIONS);
  await writer.summarize({ rankError });
  await writer.close();
  return query(store, name, right, { approximate: { rankError } });
}

async function query(
  store: Store,
  name: string,
  right: Right,
  how: { where: Where } | { approximate: { rankError: number } },
): Promise<Asked> {
  const counting = countingStore(store);
  const series = new Series(counting.store, name, OPTIONS);
  const startMs = performance.now();
  const { count, percentiles } = await series.stats({ percentiles: [...PERCENTILES], ...how });
  const ms = performance.now() - startMs;
  await series.close();
  if (count !== right.count) throw new Error(`${JSON.stringify(how)} counted ${count} of ${right.count} events`);
  return {
    requests: counting.requests(),
    bytes: counting.bytes(),
    ms,
    percentiles: PERCENTILES.map((p) => percentiles[p]!),
  };
}
