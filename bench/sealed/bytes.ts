import { Redis } from "ioredis";
import { redisStore } from "../../src/entries/index.ts";
import { chimp } from "../rivals/compression/chimp.ts";
import type { Compressor } from "../rivals/compression/compressor.ts";
import { gorilla } from "../rivals/compression/gorilla.ts";
import { PUBLISHED_FORMS, PUBLISHED_NOTES } from "../rivals/compression/redis-time-series.ts";
import { zstdBytes } from "../rivals/compression/zstd.ts";
import { sortedSets } from "../rivals/sorted-set.ts";
import type { Report, Row } from "../runner/report.ts";
import { ask, rightOf } from "./asked.ts";
import { lognormal, ROUNDINGS, type SealedLoad, timesOf } from "./events.ts";
import { fill, seal, sizeOf } from "./filled.ts";

export interface BytesOptions {
  loads: readonly SealedLoad[];
}

export const FULL_BYTES: BytesOptions = {
  loads: [
    { events: 1_000_000, batch: 32 },
    { events: 1_000_000, batch: 1 },
  ],
};
export const SMALL_BYTES: BytesOptions = { loads: [{ events: 60_000, batch: 1 }] };

const NAME = "bench bytes";
const COMPRESSORS = [zstdBytes, gorilla, chimp];

/** The bytes of the same events in each stored form. There is no time in it, so a busy machine does not matter. */
export async function benchBytes(redisUrl: string, { loads }: BytesOptions): Promise<Report> {
  const report: Report = {
    bench: "bytes",
    title: "Bytes of the same events in each stored form",
    rows: [],
    notes: [
      "Lognormal latencies, median 5 ms, sigma 0.8, float32, one event for each ms. A batch of 32 has one time.",
      "bytesPerEvent of oriel is STRLEN of its closed chunks. memoryPerEvent is MEMORY USAGE. A sorted set holds an id and the time, and no value.",
      "zstd has level 3, over the column of values and the column of differences of times. Gorilla and Chimp are adapters of our own. Each was decoded and compared with the events, bit by bit.",
      "The sealed series answered p50, p90 and p99 as a sort of the values does.",
      ...PUBLISHED_NOTES,
    ],
  };
  const able = COMPRESSORS.filter((compressor) => {
    const reason = compressor.missing?.();
    if (reason) report.notes.push(`${compressor.name} was skipped: ${reason}.`);
    return !reason;
  });
  for (const load of loads)
    for (const [values, unitsPerMs] of Object.entries(ROUNDINGS)) {
      const column = lognormal(load.events, unitsPerMs);
      const rows = [
        await sortedSetRow(redisUrl, column),
        // It keeps one value for each time, so it cannot hold a batch.
        ...(load.batch === 1 ? PUBLISHED_FORMS : []).map((form) => ({ ...form, source: "published" })),
        ...able.map((compressor) => compressedRow(compressor, timesOf(load), column)),
        ...(await seriesRows(redisUrl, column, load.batch)),
      ];
      report.rows.push(...rows.map((row) => ({ values, ...load, ...row })));
    }
  return report;
}

async function sortedSetRow(redisUrl: string, column: Float32Array): Promise<Row> {
  const [rival] = sortedSets as [(typeof sortedSets)[0]];
  const window = await rival.open(redisUrl, `${NAME}, sorted set`, 2 * column.length, column);
  const memory = await window.redisBytes();
  await window.close();
  return { by: rival.name, source: "measured", bytesPerEvent: "", memoryPerEvent: memory / column.length };
}

/** Throws if the events come back changed. */
function compressedRow(compressor: Compressor, times: Float64Array, column: Float32Array): Row {
  const stored = compressor.encode(times, column);
  const timesOut = new Float64Array(times.length);
  const valuesOut = new Float32Array(column.length);
  compressor.decode(stored, timesOut, valuesOut);
  if (Buffer.compare(Buffer.from(times.buffer), Buffer.from(timesOut.buffer)) !== 0)
    throw new Error(`${compressor.name} lost a time`);
  if (Buffer.compare(Buffer.from(column.buffer), Buffer.from(valuesOut.buffer)) !== 0)
    throw new Error(`${compressor.name} lost a value`);
  const bytes = stored.reduce((sum, part) => sum + part.length, 0);
  return { by: compressor.name, source: "measured", bytesPerEvent: bytes / column.length, memoryPerEvent: "" };
}

/** The closed chunks of a series, before and after they are sealed. */
async function seriesRows(redisUrl: string, column: Float32Array, batch: number): Promise<Row[]> {
  const raw = new Redis(redisUrl);
  const store = redisStore(raw, { deadline: 60_000, registry: false });
  const key = store.keyOf(NAME);
  try {
    const closed = await fill(raw, key, column, batch);
    const recorded = await sizeOf(raw, closed);
    await seal(store, key, closed);
    const sealed = await sizeOf(raw, closed);
    await ask(store, NAME, rightOf(column), "copy");
    return [
      { by: "oriel, format 1", source: "measured", ...recorded },
      { by: "oriel, sealed", source: "measured", ...sealed },
    ];
  } finally {
    await raw.flushdb();
    await store.close();
    raw.disconnect();
  }
}
