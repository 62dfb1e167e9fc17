import type { JournalAnswer } from "../../src/engine/journal/format/answer.ts";
import { redisStore, Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { latencies } from "../events.ts";
import { median, percentile } from "../runner/measure.ts";
import type { Report, Row } from "../runner/report.ts";

export interface ColdOptions {
  events: number;
  /** Events in a frame. */
  batches: readonly number[];
  repetitions: number;
}

export const FULL_COLD: ColdOptions = { events: 1_000_000, batches: [32, 1024, 65_535], repetitions: 9 };
export const SMALL_COLD: ColdOptions = { events: 2_000, batches: [32], repetitions: 2 };

const QUERY = { percentiles: [99] };

/** Measures a reader with no cached copy that queries a window: its round trips, and the time from bytes to the first answer. */
export async function benchCold(redisUrl: string, options: ColdOptions): Promise<Report> {
  const report: Report = {
    bench: "cold",
    title: "A reader with no cached copy queries a window (all statistics and p99)",
    rows: [],
    notes: [
      "ms is the whole query, Redis included. kernelMs is the time from bytes to answer, with the same replies replayed from memory. eventsPerSecond is computed from kernelMs.",
      "reads counts chunks and pages. trips counts turns in which some were sent together. Medians. Every answer's count and p99 were checked.",
    ],
  };
  for (const batch of options.batches) report.rows.push(await measure(redisUrl, batch, options));
  return report;
}

async function measure(redisUrl: string, batch: number, { events, repetitions }: ColdOptions): Promise<Row> {
  const store = redisStore(redisUrl, { deadline: "1m" });
  const name = `bench cold ${batch}`;
  const writer = new Series(store, name);
  const values = latencies(events, 5);
  for (let from = 0; from < events; from += batch) await writer.recordMany(values.subarray(from, from + batch));
  const sorted = values.slice().sort();
  const row = await measureReader(store, name, sorted, repetitions);
  await writer.delete();
  await writer.close();
  await store.close();
  return { events, batch, ...row };
}

async function measureReader(store: Store, name: string, sorted: Float32Array, repetitions: number): Promise<Row> {
  const events = sorted.length;
  const right = percentile(sorted, 99);
  const ask = async (on: Store) => {
    const series = new Series(on, name);
    const startMs = performance.now();
    const { count, percentiles } = await series.stats(QUERY);
    const ms = performance.now() - startMs;
    const p99 = percentiles[99]!;
    if (count !== events || Math.abs(p99 - right) > 1e-6 * right)
      throw new Error(`a cold reader answered ${count} events, p99 ${p99}; right is ${events}, ${right}`);
    await series.close();
    return ms;
  };
  const tape = new Tape(store);
  await ask(tape.recording);
  const wholeMs: number[] = [];
  const kernelMs: number[] = [];
  for (let turn = 0; turn < repetitions; turn++) {
    wholeMs.push(await ask(store));
    kernelMs.push(await ask(tape.replaying));
  }
  const eventsPerSecond = (events / median(kernelMs)) * 1000;
  const { reads, trips, sizeBytes: bytes } = tape;
  return { reads, trips, bytes, ms: median(wholeMs), kernelMs: median(kernelMs), eventsPerSecond };
}

/** Records the replies of a store and replays them at once. */
class Tape {
  reads = 0;
  trips = 0;
  sizeBytes = 0;
  readonly recording: Store;
  readonly replaying: Store;
  readonly #answers = new Map<string, unknown>();

  constructor(store: Store) {
    let isSending = false;
    const { keyOf, monotonic } = store;
    const nameOf = (key: string, input: unknown) => `${key} ${JSON.stringify(input)}`;
    const closed = async () => {};
    const record: Store["run"] = async (operation, key, input, runOptions) => {
      this.reads++;
      if (!isSending) {
        this.trips++;
        isSending = true;
        setImmediate(() => {
          isSending = false;
        });
      }
      const answer = await store.run(operation, key, input, runOptions);
      const { bytes, closedChunks: older } = answer as Partial<JournalAnswer>;
      for (const part of [bytes, ...(older?.chunks ?? []).map((chunk) => chunk.bytes)])
        this.sizeBytes += part?.length ?? 0;
      this.#answers.set(nameOf(key, input), answer);
      return answer;
    };
    const replay: Store["run"] = async (_operation, key, input, runOptions) => {
      runOptions?.ranIn?.(this);
      return this.#answers.get(nameOf(key, input)) as never;
    };
    this.recording = { keyOf, monotonic, leaseClock: monotonic, run: record, close: closed };
    this.replaying = { keyOf, monotonic, leaseClock: monotonic, run: replay, close: closed };
  }
}
