import { Redis } from "ioredis";
import { redisStore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { median } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";
import { ask, type Plan, type Right, rightOf } from "./asked.ts";
import { lognormal, ROUNDINGS, type SealedLoad } from "./events.ts";
import { fill, seal, sizeOf } from "./filled.ts";

export interface SealedBench {
  loads: readonly SealedLoad[];
  turns: number;
}

export const FULL_SEALED: SealedBench = {
  loads: [
    { events: 1_000_000, batch: 32 },
    { events: 1_000_000, batch: 1 },
    { events: 10_000_000, batch: 32 },
  ],
  turns: 9,
};
export const SMALL_SEALED: SealedBench = { loads: [{ events: 60_000, batch: 32 }], turns: 1 };

const NAME = "bench sealed";
/** Queries before those that are measured, so that the engine has compiled what they run. */
const WARM_UPS = 15;

/** Measures a series before and after its chunks are sealed: bytes, and exact percentiles for a process without a copy. */
export async function benchSealed(redisUrl: string, { loads, turns }: SealedBench): Promise<Report> {
  const rows: Row[] = [];
  for (const load of loads)
    for (const [values, unitsPerMs] of Object.entries(ROUNDINGS))
      rows.push(...(await measure(redisUrl, values, unitsPerMs, load.events, load.batch, turns)));
  return {
    bench: "sealed",
    title: "Closed chunks as they were recorded and sealed: one reader without a copy asks for p50, p90 and p99",
    rows,
    notes: [
      "Lognormal latencies, median 5 ms, sigma 0.8, float32, one event for each ms. bytesPerEvent is STRLEN of the closed chunks, memoryPerEvent MEMORY USAGE.",
      "openBytes is the length of the open chunk, which is read as it is. sealNs is the time of the process that seals, for each event: read, drop copies, encode, decode and compare, write.",
      "Each answer was compared with the sorted values. requests counts script calls, bytes their answers. ms is a median after 15 queries, because the engine compiles the code during the first.",
      "The rows of outlines are those of a process that asks for the first time. The others ask for all events, as a process does whose copy pays. The rows of moments ask for count, sum, mean and extremes.",
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
    const right = rightOf(column);
    const closed = await fill(raw, key, column, batch);
    const load = { values, events, batch, openBytes: await raw.strlen(key) };
    const before = await sizeOf(raw, closed);
    const cold = await askedOften(store, right, turns, "copy");
    const startMs = performance.now();
    await seal(store, key, closed);
    const sealNs = ((performance.now() - startMs) * 1e6) / closed.events;
    const after = await sizeOf(raw, closed);
    return [
      { ...load, form: "as recorded", ...before, sealNs: "", ...cold },
      { ...load, form: "sealed", ...after, sealNs, ...(await askedOften(store, right, turns, "copy")) },
      { ...load, form: "sealed, outlines", ...after, sealNs, ...(await askedOften(store, right, turns, "outlines")) },
      { ...load, form: "sealed, moments", ...after, sealNs, ...(await askedOften(store, right, turns, "moments")) },
    ];
  } finally {
    await raw.flushdb();
    await store.close();
    raw.disconnect();
  }
}

/** One query of a process without a copy, several times. */
async function askedOften(store: Store, right: Right, turns: number, plan: Plan): Promise<Row> {
  const ms: number[] = [];
  let asked = await ask(store, NAME, right, plan);
  for (let turn = 1; turn < WARM_UPS; turn++) asked = await ask(store, NAME, right, plan);
  for (let turn = 0; turn < turns; turn++) {
    asked = await ask(store, NAME, right, plan);
    ms.push(asked.ms);
  }
  return { requests: asked.requests, bytes: asked.bytes, ms: median(ms) };
}
