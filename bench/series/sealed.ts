import { Redis } from "ioredis";
import { memoryStore, redisStore, Series } from "../../src/entries/index.ts";
import { STATUS } from "../../src/journal/format/answer.ts";
import { constants } from "../../src/journal/format/constants.ts";
import { encodeFrame } from "../../src/journal/format/frames.ts";
import { ChunkSealer } from "../../src/journal/sealed/sealer.ts";
import { append } from "../../src/journal/steps/append.ts";
import { closedKey, rotate } from "../../src/journal/steps/rotate.ts";
import { activeBlocks } from "../../src/kernel/blocks/choose.ts";
import { activeKernel } from "../../src/kernel/choose.ts";
import type { Store } from "../../src/store/contract.ts";
import { countingStore } from "../../test/harness/counting-store.ts";
import { uniform } from "../events.ts";
import { median, percentile } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";

export interface SealedBench {
  /** Events in the window, and in a frame. There is one event for each ms. */
  loads: readonly { events: number; batch: number }[];
  turns: number;
}

export const FULL_SEALED: SealedBench = {
  loads: [
    { events: 1_000_000, batch: 32 },
    { events: 1_000_000, batch: 1 },
    { events: 3_333_333, batch: 32 },
  ],
  turns: 9,
};
export const SMALL_SEALED: SealedBench = { loads: [{ events: 60_000, batch: 32 }], turns: 1 };

const PERCENTILES = [50, 90, 99];
const NAME = "bench sealed";

/** Measures a series before and after its chunks are sealed: bytes, and exact percentiles for a process without a copy. */
export async function benchSealed(redisUrl: string, { loads, turns }: SealedBench): Promise<Report> {
  const rows: Row[] = [];
  for (const load of loads)
    for (const [values, unitsPerMs] of [
      ["rounded to 1 us", 1000],
      ["unrounded", 0],
    ] as const)
      rows.push(...(await measure(redisUrl, values, unitsPerMs, load.events, load.batch, turns)));
  return {
    bench: "sealed",
    title: "Closed chunks as they were recorded and sealed: one reader without a copy asks for p50, p90 and p99",
    rows,
    notes: [
      "Lognormal latencies, median 5 ms, sigma 0.8, float32, one event for each ms. bytesPerEvent is STRLEN of the closed chunks, memoryPerEvent MEMORY USAGE.",
      "sealNs is the time of the process that seals, for each event: read, drop copies, encode, decode and compare, write.",
      "Each answer was compared with the sorted values. requests counts script calls, bytes their answers. Medians.",
      'The rows of outlines are stats({ where: "server" }) of a process that knows that the series is sealed.',
    ],
  };
}

async function measure(
  redisUrl: string,
  values: string,
  unitsPerMs: number,
  events: number,
  batch: number,
  turns: number,
): Promise<Row[]> {
  const raw = new Redis(redisUrl);
  const store = redisStore(raw, { deadline: 60_000, registry: false });
  const key = store.keyOf(NAME);
  try {
    const column = lognormal(events, unitsPerMs);
    const sorted = column.slice().sort();
    const right: Right = { count: events, percentiles: PERCENTILES.map((p) => percentile(sorted, p)) };
    const closed = await fill(raw, key, column, batch);
    const load = { values, events, batch };
    const before = await sizeOf(raw, closed);
    const cold = await asked(store, right, turns, "client");
    const startMs = performance.now();
    const sealer = new ChunkSealer(store, key, () => ({ codec: activeBlocks(), kernel: activeKernel() }));
    for (const number of closed.numbers)
      if ((await sealer.seal(number)) !== "sealed") throw new Error(`chunk ${number} was not sealed`);
    const sealNs = ((performance.now() - startMs) * 1e6) / closed.events;
    const after = await sizeOf(raw, closed);
    return [
      { ...load, form: "as recorded", ...before, sealNs: "", ...cold },
      { ...load, form: "sealed", ...after, sealNs, ...(await asked(store, right, turns, "client")) },
      { ...load, form: "sealed, outlines", ...after, sealNs, ...(await asked(store, right, turns, "server")) },
    ];
  } finally {
    await raw.flushdb();
    await store.close();
    raw.disconnect();
  }
}

function lognormal(count: number, unitsPerMs: number): Float32Array {
  const random = uniform(11);
  return Float32Array.from({ length: count }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const ms = 5 * Math.exp(0.8 * normal);
    return unitsPerMs > 0 ? Math.round(ms * unitsPerMs) / unitsPerMs : ms;
  });
}

interface Right {
  count: number;
  percentiles: number[];
}

interface Closed {
  keys: string[];
  numbers: number[];
  events: number;
}

/** Records in memory, by a clock that steps by one ms for each event, and copies the chunks to Redis. */
async function fill(raw: Redis, key: string, column: Float32Array, batch: number): Promise<Closed> {
  const endMs = Date.now();
  let nowMs = endMs - column.length;
  const memory = memoryStore({ clock: () => nowMs, registry: false });
  const closed: Closed = { keys: [], numbers: [], events: 0 };
  let sequence = 0;
  let since = 0;
  for (let from = 0; from < column.length; from += batch) {
    nowMs = endMs - column.length + from;
    const frames = [encodeFrame(1, ++sequence, column.subarray(from, from + batch))];
    const input = { valueType: 0, clock: 0, retentionMs: 7_200_000, voidAfterMs: nowMs + 10_000, birth: 7, frames };
    const { status, header, length } = await memory.run(append, key, { ...input, known: "none" });
    if (status !== STATUS.done) throw new Error(`an append was answered with ${status}`);
    since += Math.min(batch, column.length - from);
    if (length < constants.sealedRotateBytes) continue;
    const { number, birth } = header!;
    await memory.run(rotate, key, { number, birth, nextBirth: sequence });
    closed.keys.push(closedKey(key, number));
    closed.numbers.push(number);
    closed.events += since;
    since = 0;
  }
  for (const each of [key, ...closed.keys]) {
    const { bytes } = memory.entryOf(each)!.value as { bytes: Uint8Array };
    await raw.set(each, Buffer.from(bytes));
  }
  return closed;
}

async function sizeOf(raw: Redis, { keys, events }: Closed): Promise<Row> {
  let bytes = 0;
  let memory = 0;
  for (const key of keys) {
    bytes += await raw.strlen(key);
    memory += Number(await raw.memory("USAGE", key));
  }
  return { bytesPerEvent: bytes / events, memoryPerEvent: memory / events };
}

/** One query of a process without a copy, several times. */
async function asked(store: Store, right: Right, turns: number, where: "client" | "server"): Promise<Row> {
  const ms: number[] = [];
  let row: Row = {};
  for (let turn = 0; turn <= turns; turn++) {
    const counting = countingStore(store);
    const series = new Series(counting.store, NAME, { retention: "2h", seal: true });
    const startMs = performance.now();
    const { count, percentiles } = await series.stats({ percentiles: PERCENTILES, where });
    if (turn > 0) ms.push(performance.now() - startMs); // the first one warms up
    await series.close();
    if (count !== right.count) throw new Error(`${where} counted ${count} of ${right.count} events`);
    for (const [i, p] of PERCENTILES.entries())
      if (!(Math.abs(percentiles[p]! - right.percentiles[i]!) <= 1e-6 * right.percentiles[i]!))
        throw new Error(`${where} answered ${percentiles[p]} as p${p}, not ${right.percentiles[i]}`);
    row = { requests: counting.requests(), bytes: counting.bytes() };
  }
  return { ...row, ms: median(ms) };
}
