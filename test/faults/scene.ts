import { Cluster, type Redis } from "ioredis";
import { expect } from "vitest";
import type { SeriesOptions } from "../../src/engine/series/series-options.ts";
import { redisStore, Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import type { RedisStoreOptions } from "../../src/store/redis/client-store.ts";
import { Ledger } from "../harness/ledger.ts";
import { until } from "../harness/until.ts";

type Client = Parameters<typeof redisStore>[0];

/** One scenario on one series: who takes part, what they recorded, and the truth at its end. */
export class Scene {
  readonly ledger = new Ledger();
  readonly name: string;
  readonly #options: SeriesOptions;
  readonly #series: Series[] = [];
  readonly #ends: (() => unknown)[] = [];

  constructor(name: string, options: SeriesOptions = {}) {
    this.name = name;
    this.#options = { retention: "10m", values: "float64", ...options };
  }

  /** A series with a store of its own, as another process would have it. */
  open(
    client: Client,
    { change = (store: Store) => store, ...options }: RedisStoreOptions & { change?: (store: Store) => Store } = {},
  ): Series {
    const store = redisStore(client, { deadline: 60_000, ...options });
    const series = new Series(change(store), this.name, this.#options);
    this.#series.push(series);
    this.#ends.push(() => store.close());
    return series;
  }

  /** Resources to close at the end of the scenario, after the stores. */
  atEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  /** Records one call's worth of new numbers, one way or another; resolves to whether it was acknowledged. */
  record(series: Series, count = 1): Promise<boolean> {
    const values = this.ledger.draw(count);
    if (count > 1) return this.ledger.follow(values, series.recordMany(values));
    const isAsking = values[0]! % 2 === 0;
    return this.ledger.follow(
      values,
      isAsking ? series.recordAndGet(values[0]!, { percentiles: [50] }) : series.record(values[0]!),
    );
  }

  /** Records a few events at a time until stopped. */
  load(series: Series): { stop(): Promise<void> } {
    let isOver = false;
    const running = (async () => {
      for (let i = 0; !isOver; i++) {
        await this.record(series, [1, 3, 1, 40][i % 4]!);
        // A store out of reach refuses at once: others must have their turns.
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    })();
    return {
      stop: () => {
        isOver = true;
        return running;
      },
    };
  }

  /** Waits until this many more calls were acknowledged than now. */
  async progress(count = 20): Promise<void> {
    const before = this.ledger.acknowledged.size;
    await until(`${count} acknowledged`, () => this.ledger.acknowledged.size >= before + count);
  }

  /**
   * The end of every scenario. A cold reader finds the events of the ledger. Every copy that was kept through the faults
   * answers the same. Every key expires. Returns the events that a failover lost, which each process that saw them reports
   * ("lost").
   */
  async settle(client: Client, raw: Redis | Cluster, { mayLose = false } = {}): Promise<number[]> {
    const kept = [...this.#series];
    const cold = this.open(client);
    const found = await cold.values();
    const missing = this.ledger.settle(found, { mayLose });
    const { degraded, count, sum, percentiles } = await cold.stats();
    expect({ degraded, count }).toEqual({ degraded: false, count: found.length });
    for (const series of kept) {
      const reported = await answered(() => series.stats());
      expect({ count: reported.count, sum: reported.sum, percentiles: reported.percentiles }).toEqual({
        count,
        sum,
        percentiles,
      });
      expect(await answered(() => series.values())).toEqual(found);
      // Only a failover may lose events that a process saw, and then the process reports it.
      if (reported.degraded) expect([reported.degradedBy, mayLose]).toEqual(["lost", true]);
    }
    const nodes = raw instanceof Cluster ? raw.nodes("master") : [raw];
    for (const node of nodes)
      for (const key of await node.keys("*")) expect(await raw.pttl(key), key).toBeGreaterThan(0);
    return missing;
  }

  async close(): Promise<void> {
    for (const end of this.#ends.splice(0)) await end();
  }
}

/** The first calls after the troubles may still meet a connection that is given up, and a store that no probe has found up. */
async function answered<T>(ask: () => Promise<T>, untilMs = performance.now() + 240_000): Promise<T> {
  return ask().catch(async (error) => {
    if (!error.transient || performance.now() > untilMs) throw error;
    await new Promise((resolve) => setTimeout(resolve, 20));
    return answered(ask, untilMs);
  });
}
