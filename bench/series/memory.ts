import { Redis } from "ioredis";
import { redisStore, Series } from "../../src/entries/index.ts";
import { latencies } from "../events.ts";
import { closedChunks } from "../rivals/oriel.ts";
import { numpySubprocess } from "../rivals/python/numpy-subprocess.ts";
import { sortedSets } from "../rivals/sorted-set.ts";
import type { Report, Row } from "../runner/report.ts";

export interface MemoryOptions {
  /** Events in the rivals' windows. */
  events: number;
  /** Chunks close after 1/64 of this span, or at 1 MiB. */
  retentionMs: number;
  closedChunks: number;
}

export const FULL_MEMORY: MemoryOptions = { events: 100_000, retentionMs: 3_600_000, closedChunks: 2 };
export const SMALL_MEMORY: MemoryOptions = { events: 1_000, retentionMs: 1_000, closedChunks: 1 };

const BATCHES = [1, 32, 1024];
const WRITERS = 32;
/** Calls of each writer between two looks at the chunks. */
const ROUNDS = 64;
const LONGEST_MS = 60_000;
const CHUNK_HEADER_BYTES = 64;
const FRAME_HEADER_BYTES = 16;

/** Redis memory per event: the rivals' keys, and closed chunks written event by event and in batches. */
export async function benchMemory(redisUrl: string, options: MemoryOptions): Promise<Report> {
  const report: Report = {
    bench: "memory",
    title: "Redis memory per event (MEMORY USAGE, key overhead included)",
    rows: [],
    notes: ["oriel: closed chunks only; each writer is a Series of its own, one batch a frame."],
  };
  // V1 and V2 keep the same sorted set; it is measured once.
  for (const rival of [sortedSets[0], numpySubprocess]) {
    const reason = rival?.missing();
    if (reason) report.notes.push(`${rival?.name} was skipped: ${reason}.`);
    if (!rival || reason) continue;
    const window = await rival.open(redisUrl, "bench memory", 3_600_000, latencies(options.events, 3));
    const sizeBytes = await window.redisBytes();
    await window.close();
    report.rows.push(row(rival.name, options.events, sizeBytes));
  }
  for (const batch of BATCHES) report.rows.push(await measureBatches(redisUrl, batch, options));
  return report;
}

function row(layout: string, events: number, sizeBytes: number): Row {
  return { layout, events, bytesPerEvent: sizeBytes / events };
}

async function measureBatches(redisUrl: string, batch: number, options: MemoryOptions): Promise<Row> {
  const redis = new Redis(redisUrl);
  const store = redisStore(redisUrl, { deadline: "1m" });
  const name = `bench memory ${batch}`;
  const openKey = store.keyOf(name);
  const writers = Array.from({ length: WRITERS }, () => new Series(store, name, { retention: options.retentionMs }));
  try {
    const written = await writeChunks(
      writers,
      latencies(batch, 4),
      async () => (await closedChunks(redis, openKey)).length >= options.closedChunks,
    );
    const { events, sizeBytes } = await measureClosed(redis, openKey, written);
    await writers[0]?.delete();
    return row(batch === 1 ? "oriel, events alone" : `oriel, batches of ${batch}`, events, sizeBytes);
  } finally {
    await Promise.all(writers.map((writer) => writer.close()));
    await store.close();
    await redis.quit();
  }
}

/** Every writer records `values` repeatedly until `enough`. Returns the number of written events. */
async function writeChunks(writers: Series[], values: Float32Array, enough: () => Promise<boolean>): Promise<number> {
  const endMs = performance.now() + LONGEST_MS;
  let written = 0;
  do {
    const writeSome = async (writer: Series) => {
      for (let round = 0; round < ROUNDS; round++) await writer.recordMany(values);
    };
    await Promise.all(writers.map(writeSome));
    written += writers.length * ROUNDS * values.length;
  } while (!(await enough()) && performance.now() < endMs);
  return written;
}

/** Closed chunks and their events. A rotation may still be under way, so this repeats until it sees every written event. */
async function measureClosed(redis: Redis, openKey: string, written: number) {
  for (let attempt = 0; attempt < 20; attempt++) {
    let sizeBytes = 0;
    let events = 0;
    for (const key of await closedChunks(redis, openKey)) {
      sizeBytes += Number(await redis.memory("USAGE", key));
      events += countEvents(await redis.getBuffer(key));
    }
    if (events + countEvents(await redis.getBuffer(openKey)) === written) return { events, sizeBytes };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`the chunks of ${openKey} do not hold the ${written} events that were written`);
}

/** Events in a chunk of plain f32 frames: u16 count at byte 2 of each frame header, then the values. */
function countEvents(chunk: Buffer | null): number {
  let events = 0;
  for (let at = CHUNK_HEADER_BYTES; chunk && at < chunk.length; ) {
    if (chunk[at] !== 0x10) throw new Error(`byte ${at} of a chunk begins no plain f32 frame: ${chunk[at]}`);
    const count = chunk.readUInt16LE(at + 2);
    events += count;
    at += FRAME_HEADER_BYTES + 4 * count;
  }
  return events;
}
