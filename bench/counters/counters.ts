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
  loads: readonly Load[];
  turns: number;
}

interface Load {
  /** Events of one turn. */
  events: number;
  /** Callers, each with one batch under way. The sizes differ. */
  callers: number;
  maxBatched: number;
}

export const FULL_COUNTERS: CountersSizes = {
  rows: [400, 100_000],
  loads: [
    { events: 300_000, callers: 32, maxBatched: 8000 },
    { events: 50_000, callers: 256, maxBatched: 1 },
  ],
  turns: 3,
};
export const SMALL_COUNTERS: CountersSizes = {
  rows: [20, 200],
  loads: [
    { events: 2000, callers: 3, maxBatched: 200 },
    { events: 200, callers: 8, maxBatched: 1 },
  ],
  turns: 1,
};

const LANES = 20;

/** Events per second that one process counts into one Redis, each acknowledged. All totals are verified. */
export async function benchCounters(redisUrl: string, sizes: CountersSizes): Promise<Report> {
  const raw = new Redis(redisUrl);
  const rows: Row[] = [];
  try {
    for (const load of sizes.loads)
      for (const count of sizes.rows) rows.push(...(await measureRows(raw, redisUrl, load, sizes.turns, count)));
  } finally {
    await raw.quit();
  }
  const notes = [
    `Each caller counts a batch of events of random rows and waits until all are acknowledged; median of ${sizes.turns} turns.`,
    "oriel receives event by event. The others receive a batch, which they sum by row first. All totals by minute, hour and day equal the sent events.",
    "After a lost reply the others count twice or not at all.",
  ];
  return { bench: "counters", title: "Counters: events a second, one process, one Redis", rows, notes };
}

async function measureRows(raw: Redis, redisUrl: string, load: Load, turns: number, count: number): Promise<Row[]> {
  const values: CounterRows = Array.from({ length: count }, (_, i) => ({
    site: `site-${Math.floor(i / LANES)}`,
    lane: `${i % LANES}`,
  }));
  const rates = new Map<CounterRival, number[]>(COUNTER_RIVALS.map((rival) => [rival, []]));
  const bytes = new Map<CounterRival, number>();
  for (let turn = 0; turn < turns; turn++)
    for (const rival of COUNTER_RIVALS) {
      await raw.flushdb();
      const client = await rival.open(redisUrl, values);
      try {
        // Every row once, so that the timing does not include the creation of rows.
        await client.add(Uint32Array.from(values.keys()));
        if (turn === 0) bytes.set(rival, (await usedBytes(raw)) / count);
        rates.get(rival)!.push(await eventsPerSecond(client, load, count, turn));
        const wanted = BigInt(load.events + count);
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
    callers: load.callers,
    eventsPerCall: load.maxBatched,
    counter: rival.name,
    kind: rival.kind,
    eventsPerSecond: median(rates.get(rival)!),
    timesSlower: median(rates.get(rival)!.map((rate, turn) => reference[turn]! / rate)),
    bytesPerRow: bytes.get(rival)!,
  }));
}

async function eventsPerSecond(client: CounterClient, load: Load, rows: number, seed: number) {
  const random = new Random(seed);
  const events = Uint32Array.from({ length: load.events }, () => random.int(0, rows - 1));
  let next = 0;
  const startMs = performance.now();
  const call = async (caller: number) => {
    const size = Math.ceil((load.maxBatched * (caller + 1)) / load.callers);
    while (next < events.length) {
      const batch = events.subarray(next, next + size);
      next += batch.length;
      await client.add(batch);
    }
  };
  await Promise.all(Array.from({ length: load.callers }, (_, caller) => call(caller)));
  return (load.events / (performance.now() - startMs)) * 1000;
}
