import { expect } from "vitest";
import type { Counters } from "../../src/counters/counter/counters.ts";
import type { Sink } from "../../src/entries/sql.ts";
import type { Random } from "../simulator/world/random.ts";

const AT = Date.UTC(2026, 1, 28, 23, 50);

export const sumOf = (rows: readonly { count: bigint }[]) => rows.reduce((sum, { count }) => sum + count, 0n);

/** Adds this number of events. Returns the sum of their counts. */
export async function produced(random: Random, flow: Counters, events: number): Promise<bigint> {
  const event = () =>
    [
      { site: random.pick(["S1", "S2", "S3", "S4", "S5", "ü'\"\\"]), lane: random.pick(["", "1", "2"]) },
      { at: AT + random.int(0, 20 * 60_000), count: random.int(1, 3) },
    ] as const;
  const all = Array.from({ length: events }, event);
  await Promise.all(all.map(([values, options]) => flow.add(values, options)));
  return sumOf(all.map(([, { count }]) => ({ count: BigInt(count) })));
}

/** Every produced event is in the table or the store, once. All buckets and the ledger agree. */
export async function expectInTable(flow: Counters, sink: Sink, all: bigint, note: string): Promise<void> {
  const table = { minute: 0n, hour: 0n, day: 0n };
  for (const bucket of ["minute", "hour", "day"] as const) {
    expect(sumOf(await flow.read({ bucket, table: sink, bigint: true })), `${note}, by ${bucket}`).toBe(all);
    table[bucket] = sumOf((await sink.read(flow.shape, { bucket })).rows);
  }
  const ledger = (await sink.ledger(flow.shape)).reduce((sum, { events }) => sum + events, 0n);
  expect(table, note).toEqual({ minute: ledger, hour: ledger, day: ledger });
}
