import { Redis } from "ioredis";
import { Random } from "../../test/simulator/world/random.ts";
import { usedBytes } from "../cluster/redis-info.ts";
import {
  COUNTER_RIVALS,
  type CounterClient,
  type CounterRival,
  type CounterRows,
  ORIEL_COUNTERS,
} from "../rivals/counter.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";

export interface CountersSizes {
  /** Distinct rows. */
  rows: readonly number[];
  /** Events of one turn. */
  events: number;
  turns: number;
  /** Callers, each with one batch under way. The sizes differ. */
  callers: number;
  mostBatched: number;
}

export const FULL_COUNTERS: CountersSizes = {
  rows: [400, 100_000],
  events: 300_000,
  turns: 3,
  callers: 32,
  mostBatched: 8000,
};
export const SMALL_COUNTERS: CountersSizes = { rows: [20, 200], events: 2000, turns: 1, callers: 3, mostBatched: 200 };

const LANES = 20;

/** Events per second that one process counts into one Redis, each acknowledged. All totals are verified. */
export async function benchCounters(redisUrl: string, sizes: CountersSizes): Promise<Report> {
  const raw = new Redis(redisUrl);
  const rows: Row[] = [];
  try {
    for (const count of sizes.rows) rows.push(...(await measureRows(raw, redisUrl, sizes, count)));
  } finally {
    await raw.quit();
  }
  const notes = [
    `${sizes.callers} callers; each counts batches of up to ${sizes.mostBatched} events of random rows and waits until all are acknowledged; ${sizes.events} events a turn, median of ${sizes.turns} turns.`,
    "oriel receives event by event. The others receive a batch, which they sum by row first. All totals by minute, hour and day equal the sent events.",
    "After a lost reply the others count twice or not at all.",
  ];
  return { bench: "counters", title: "Counters: events a second, one process, one Redis", rows, notes };
}

async function measureRows(raw: Redis, redisUrl: string, sizes: CountersSizes, count: number): Promise<Row[]> {
  const values: CounterRows = Array.from({ length: count }, (_, i) => ({
    site: `site-${Math.floor(i / LANES)}`,
    lane: `${i % LANES}`,
  }));
  const rates = new Map<CounterRival, number[]>(COUNTER_RIVALS.map((rival) => [rival, []]));
  const bytes = new Map<CounterRival, number>();
  for (let turn = 0; turn < sizes.turns; turn++)
    for (const rival of COUNTER_RIVALS) {
      await raw.flushdb();
      const client = await rival.open(redisUrl, values);
      try {
        // Every row once, so that the timing does not include the creation of rows.
        await client.add(Uint32Array.from(values.keys()));
        if (turn === 0) bytes.set(rival, (await usedBytes(raw)) / count);
        rates.get(rival)!.push(await eventsPerSecond(client, sizes, count, turn));
        const wanted = BigInt(sizes.events + count);
        for (const total of await client.totals())
          if (total !== wanted) throw new Error(`${rival.name} counts ${total} events of ${wanted}`);
      } finally {
        await client.close();
      }
    }
  await raw.flushdb();
  const reference = rates.get(ORIEL_COUNTERS)!;
  return COUNTER_RIVALS.map((rival) => ({
    rows: count,
    counter: rival.name,
    kind: rival.kind,
    eventsPerSecond: median(rates.get(rival)!),
    timesSlower: median(rates.get(rival)!.map((rate, turn) => reference[turn]! / rate)),
    bytesPerRow: bytes.get(rival)!,
  }));
}

async function eventsPerSecond(client: CounterClient, sizes: CountersSizes, rows: number, seed: number) {
  const random = new Random(seed);
  const events = Uint32Array.from({ length: sizes.events }, () => random.int(0, rows - 1));
  let next = 0;
  const startMs = performance.now();
  const call = async (caller: number) => {
    const most = Math.ceil((sizes.mostBatched * (caller + 1)) / sizes.callers);
    while (next < events.length) {
      const batch = events.subarray(next, next + most);
      next += batch.length;
      await client.add(batch);
    }
  };
  await Promise.all(Array.from({ length: sizes.callers }, (_, caller) => call(caller)));
  return (sizes.events / (performance.now() - startMs)) * 1000;
}
