import { Redis } from "ioredis";
import { redisStore, Series } from "../../src/entries/index.ts";
import type { Report, Row } from "../runner/report.ts";

export interface FleetOptions {
  processes: readonly number[];
  /** Of each process. */
  eventsPerSecond: number;
  seconds: number;
}

export const FULL_FLEET: FleetOptions = { processes: [1, 4, 16, 64], eventsPerSecond: 200, seconds: 12 };
export const SMALL_FLEET: FleetOptions = { processes: [2], eventsPerSecond: 50, seconds: 1 };

const SPAN = "1m";

/** Processes that each record, and ask once a second for the p99 of a minute: the bytes that Redis sends. */
export async function benchFleet(redisUrl: string, options: FleetOptions): Promise<Report> {
  const { eventsPerSecond, seconds } = options;
  const report: Report = {
    bench: "fleet",
    title: "Processes that record and ask once a second: bytes that Redis sends",
    rows: [],
    notes: [
      `Each process has a connection of its own, records ${eventsPerSecond} events a second, one by one, and asks for the p99 of a minute once a second, at a moment of its own. The first ${seconds} s are not measured, the next ${seconds} s are.`,
      "At the end an answer of each process had to have all events that were recorded at most the maximum age before.",
    ],
  };
  for (const processes of options.processes)
    for (const maxAge of [0, 1000]) report.rows.push(await measure(redisUrl, processes, maxAge, options));
  return report;
}

async function measure(
  redisUrl: string,
  processes: number,
  maxAgeMs: number,
  { eventsPerSecond, seconds }: FleetOptions,
): Promise<Row> {
  const raw = new Redis(redisUrl);
  const name = `bench fleet ${processes} ${maxAgeMs}`;
  const fleet = Array.from({ length: processes }, (_, i) => new Member(redisUrl, name, i / processes, maxAgeMs));
  await Promise.all(fleet.map((member) => member.store.ready()));
  const play = async () => {
    const before = fleet.reduce((sum, { events }) => sum + events, 0);
    const beforeBytes = await sentBytes(raw);
    await Promise.all(fleet.map((member) => member.play(eventsPerSecond, seconds)));
    const events = fleet.reduce((sum, member) => sum + member.events, 0) - before;
    return { events, bytes: (await sentBytes(raw)) - beforeBytes };
  };
  await play();
  const { events, bytes } = await play();
  const total = fleet.reduce((sum, member) => sum + member.events, 0);
  await new Promise((resolve) => setTimeout(resolve, maxAgeMs));
  for (const { series } of fleet) {
    const { count } = await series.stats({ span: SPAN, percentiles: [99], maxAge: maxAgeMs });
    if (count !== total) throw new Error(`a process answered ${count} events; right is ${total}`);
  }
  for (const member of fleet) await member.close();
  await raw.del(`oriel:{${name}}`);
  raw.disconnect();
  return { processes, asked: maxAgeMs === 0 ? "alone" : "with maxAge", events, bytesPerEvent: bytes / events };
}

async function sentBytes(raw: Redis): Promise<number> {
  return Number(/total_net_output_bytes:(\d+)/.exec(await raw.info("stats"))![1]);
}

/** One process: it records steadily and asks once a second. */
class Member {
  readonly store;
  readonly series: Series;
  readonly #phase: number;
  readonly #maxAge: number;
  events = 0;

  constructor(redisUrl: string, name: string, phase: number, maxAge: number) {
    this.store = redisStore(redisUrl, { registry: false, deadline: "1m" });
    this.series = new Series(this.store, name, { retention: SPAN });
    this.#phase = phase;
    this.#maxAge = maxAge;
  }

  async play(eventsPerSecond: number, seconds: number): Promise<void> {
    const calls: Promise<unknown>[] = [];
    const startMs = performance.now();
    const everyMs = 1000 / eventsPerSecond;
    let recorded = 0;
    let asked = 0;
    while (recorded < eventsPerSecond * seconds) {
      const elapsedMs = performance.now() - startMs;
      for (; recorded * everyMs <= elapsedMs && recorded < eventsPerSecond * seconds; recorded++)
        calls.push(this.series.record(recorded % 1000));
      for (; (asked + this.#phase) * 1000 <= elapsedMs && asked < seconds; asked++)
        calls.push(this.series.stats({ span: SPAN, percentiles: [99], maxAge: this.#maxAge }));
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
    await Promise.all(calls);
    this.events += recorded;
  }

  async close(): Promise<void> {
    await this.series.close();
    await this.store.close();
  }
}
