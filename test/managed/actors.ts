import { expect } from "vitest";
import { Counters, Limiter, Lock, OrielError, Series, type Store, slidingWindow } from "../../src/entries/index.ts";
import { DIMENSIONS, Load } from "../counter/faults/load.ts";
import { Ledger } from "../harness/ledger.ts";
import { until } from "../harness/until.ts";

const LIMIT = 1_000_000;
const CALLERS = 3;

/** The structures of one name on a store. */
function structures(store: Store, name: string) {
  return {
    series: new Series(store, name, { retention: "10m", values: "float64" }),
    limiter: new Limiter(store, [slidingWindow({ limit: LIMIT, span: "1h" })], { name }),
    counters: new Counters(store, name, { dimensions: DIMENSIONS, shards: 2 }),
    lock: new Lock(store, name),
  };
}

/** Callers of a series, a limiter, counters and a lock, and the outcomes of their calls. */
export class Actors {
  readonly #errors: unknown[] = [];
  readonly #name: string;
  readonly #ledger = new Ledger();
  readonly #counts = new Load();
  readonly #fences: number[] = [];
  readonly #runs: Promise<void>[];
  readonly #own;
  #allowed = 0;
  /** Permits that may have been taken. */
  #unsure = 0;
  #inside = 0;
  #isOver = false;

  constructor(store: Store, name: string) {
    this.#name = name;
    this.#own = structures(store, name);
    this.#counts.start(this.#own.counters, CALLERS);
    const acts = [() => this.#record(), () => this.#take(), () => this.#hold()];
    this.#runs = acts.flatMap((act) => Array.from({ length: CALLERS }, () => this.#repeat(act)));
  }

  /** Waits until each has done this many more. */
  async progress(count = 10): Promise<void> {
    const done = () => [
      this.#ledger.acknowledged.size,
      this.#allowed,
      this.#fences.length,
      this.#counts.acknowledgedTotal,
    ];
    const before = done();
    await until("all go on", () => done().every((each, i) => each >= before[i]! + count));
  }

  /** Stops, and compares with what another store finds. */
  async check(store: Store): Promise<void> {
    this.#isOver = true;
    await Promise.all([...this.#runs, this.#counts.stop()]);
    await this.#own.counters.close();
    const { series, limiter, counters } = structures(store, this.#name);
    this.#ledger.settle(await series.values());
    const taken = LIMIT - (await limiter.peek("u")).remaining;
    expect(taken).toBeGreaterThanOrEqual(this.#allowed);
    expect(taken).toBeLessThanOrEqual(this.#allowed + this.#unsure);
    expect(this.#fences).toEqual([...new Set(this.#fences)].sort((a, b) => a - b));
    await this.#counts.check(counters);
    // Calls that may be sent again reach no caller as an error. Others may be in doubt.
    expect([...this.#counts.errors, ...this.#ledger.failures]).toEqual([]);
    expect(this.#errors.filter((error) => !(error instanceof OrielError && error.transient))).toEqual([]);
  }

  async #repeat(act: () => Promise<unknown>): Promise<void> {
    while (!this.#isOver) {
      await act().catch((error) => void this.#errors.push(error));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }

  async #record(): Promise<void> {
    const values = this.#ledger.draw(3);
    await this.#ledger.follow(values, this.#own.series.recordMany(values));
  }

  async #take(): Promise<void> {
    await this.#own.limiter.take("u").then(
      ({ allowed }) => allowed && this.#allowed++,
      (error: OrielError) => {
        if (error.applied === "unknown") this.#unsure++;
        throw error;
      },
    );
  }

  async #hold(): Promise<void> {
    const held = await this.#own.lock.tryLock({ wait: "5s", lease: "1s" });
    if (!held) return;
    expect(++this.#inside).toBe(1);
    this.#fences.push(held.fence);
    await new Promise((resolve) => setTimeout(resolve, 1));
    this.#inside--;
    await held.release();
  }
}
