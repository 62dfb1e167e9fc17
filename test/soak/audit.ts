import type { Redis } from "ioredis";
import { redisStore, Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import type { SoakLedger } from "./ledger.ts";
import { nameOf, optionsOf, retentionMsOf } from "./plan.ts";

/** Number of series read at once. */
const BATCH = 100;
/** The readers rest this many times as long as they read. */
const REST = 1;

/** Reads all series, a batch at a time, with nothing in memory, and judges each by the ledger. */
export class Auditor {
  reads = 0;
  readonly wrong: string[] = [];
  readonly #store: Store;
  readonly #redis: Redis;
  readonly #ledger: SoakLedger;
  readonly #series: number;
  #next = 0;

  constructor(redis: Redis, ledger: SoakLedger, series: number) {
    this.#redis = redis;
    this.#ledger = ledger;
    this.#series = series;
    // Every key must be a series' key that expires in the soak. Those of the registry live for days.
    this.#store = redisStore(redis, { deadline: 20_000, registry: false });
  }

  /** Repeats until stopped. */
  async audit(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const begunMs = performance.now();
      await this.#batch();
      await new Promise((resolve) => setTimeout(resolve, REST * (performance.now() - begunMs)));
    }
  }

  /** Every series once more. */
  async settle(): Promise<void> {
    this.#next = 0;
    for (let left = this.#series; left > 0; left -= BATCH) await this.#batch();
    this.#ledger.close();
  }

  async #batch(): Promise<void> {
    const indices = Array.from({ length: Math.min(BATCH, this.#series) }, () => this.#next++ % this.#series);
    const [seconds, micros] = await this.#redis.time();
    // Later appends have a later stamp, so the window that ends before now no longer changes.
    const toMs = Math.floor(Number(seconds) * 1000 + Number(micros) / 1000) - 1;
    await Promise.all(indices.map((index) => this.#read(index, toMs)));
  }

  async #read(index: number, toMs: number): Promise<void> {
    const spanMs = retentionMsOf(index);
    const cold = new Series(this.#store, nameOf(index), optionsOf(index));
    const found = await cold.values({ at: toMs, span: spanMs });
    await cold.close();
    this.reads++;
    this.wrong.push(...this.#ledger.judge(index, found, toMs - spanMs, toMs));
  }
}
