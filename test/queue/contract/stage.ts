import { Cluster } from "ioredis";
import {
  DelayQueue,
  type DelayQueueOptions,
  type Job,
  OrielError,
  type QueueWorker,
  type WorkerOptions,
} from "../../../src/entries/index.ts";
import { layoutText, timesKeys } from "../../../src/queue/format/layout.ts";
import { counts } from "../../../src/queue/steps/shards.ts";
import type { Store } from "../../../src/store/contract.ts";
import { announce } from "../../../src/store/registry/steps/announce.ts";
import type { OpenStore } from "../../harness/clock/stepped-stores.ts";
import { SteppedTimers } from "./stepped-timers.ts";

const MARK = "test:mark";
const MAX_ROUNDS = 3000;
/** After this number of quiet turns of the event loop no more work is expected. */
const QUIET_TURNS = 3;

const turnOfLoop = () => new Promise<void>((resolve) => setTimeout(() => setImmediate(resolve), 0));

/** Queues and workers on a clock that is stepped: timers run in order of time, and real I/O settles in between. */
export class Stage {
  readonly opened: OpenStore;
  /** The same store, whose calls and subscriptions are watched. */
  readonly store: Store;
  readonly timers: SteppedTimers;
  /** Calls so far, by operation. Without announcements of the registry, which come by the clock on the wall. */
  readonly calls: string[] = [];
  readonly #workers: { close(): Promise<void> }[] = [];
  #underWay = 0;
  #signs = 0;
  #marks = 0;

  constructor(opened: OpenStore) {
    this.opened = opened;
    this.timers = new SteppedTimers(opened.clock, () => this.settle());
    this.store = this.#watched(opened.store);
    opened.store.subscribe?.(MARK, () => {
      this.#marks++;
    });
  }

  get nowMs(): number {
    return this.opened.clock.nowMs;
  }

  queue<Payload = unknown>(options: DelayQueueOptions = {}, name = "mail"): DelayQueue<Payload> {
    return new DelayQueue<Payload>(this.store, name, { ...this.opened.modes, ...options }, this.timers);
  }

  /** The queue as the process of another store has it. */
  queueOn(store: Store): DelayQueue<unknown> {
    return new DelayQueue(store, "mail", { ...this.opened.modes }, this.timers);
  }

  worker<P>(queue: DelayQueue<P>, handler: (job: Job<P>) => unknown, options: WorkerOptions = {}): QueueWorker<P> {
    const worker = queue.process(handler, options);
    this.#workers.push(worker);
    return worker;
  }

  /** Steps the clock. Woken code completes its work before the clock continues. */
  advance(ms: number): Promise<void> {
    return this.timers.advance(ms);
  }

  /** Waits, without the clock going on, until nothing is under way any more. */
  async settle(): Promise<void> {
    let quiet = 0;
    for (let round = 0; quiet < QUIET_TURNS; round++) {
      if (round > MAX_ROUNDS) throw new Error(`something goes on and on: ${this.calls.slice(-5)}`);
      const before = this.#signs;
      if (quiet === 0) await this.#newsIsHere();
      await turnOfLoop();
      quiet = this.#underWay === 0 && this.#signs === before ? quiet + 1 : 0;
    }
  }

  /** Steps the clock from timer to timer, and at least by `stepMs`, until the promise settles. */
  async awaiting<T>(promise: Promise<T>, stepMs = 5): Promise<T> {
    let isOver = false;
    const over = () => {
      isOver = true;
    };
    promise.then(over, over);
    for (let round = 0; ; round++) {
      await this.settle();
      if (isOver) return promise;
      if (round > MAX_ROUNDS) throw new Error("it does not settle");
      await this.advance(Math.max(stepMs, this.timers.nextMs - this.nowMs));
    }
  }

  /** The same store as a process has it that may be cut off: then what it asks for fails, and it hears nothing. */
  cuttable(): { store: Store; isCut: boolean } {
    const gone = () => new OrielError("UNAVAILABLE", "cut off", { transient: true });
    const cut = { isCut: false, store: this.store };
    cut.store = {
      ...this.store,
      run: (...call) => (cut.isCut ? Promise.reject(gone()) : this.store.run(...call)),
      ...(this.store.subscribe && {
        subscribe: (channel, listener) => this.store.subscribe!(channel, (reported) => cut.isCut || listener(reported)),
      }),
    };
    return cut;
  }

  /** Counts of one shard. */
  censusOf(queue: DelayQueue<unknown>, shard: number, shards = 2) {
    const key = timesKeys(this.store, queue.name, shards)[shard]!;
    return this.store.run(counts, key, { layout: layoutText(shards) });
  }

  /** Ends all workers and forgets everything. */
  async clear(): Promise<void> {
    for (const worker of this.#workers.splice(0)) await this.awaiting(worker.close(), 1000);
    await this.settle();
    this.timers.clear();
    await this.opened.clear();
    this.calls.length = 0;
  }

  #watched(store: Store): Store {
    return {
      ...store,
      run: async (operation, key, input, options) => {
        if (operation !== announce) this.calls.push(operation.name);
        this.#underWay++;
        try {
          return await store.run(operation, key, input, options);
        } finally {
          this.#underWay--;
          this.#signs++;
        }
      },
      ...(store.subscribe && { subscribe: this.#heard(store) }),
    };
  }

  /** A subscription that does not stand yet is under way. */
  #heard(store: Store): NonNullable<Store["subscribe"]> {
    return (channel, listener) => {
      let isStanding = false;
      const stands = () => {
        if (!isStanding) this.#underWay--;
        isStanding = true;
      };
      this.#underWay++;
      const unsubscribe = store.subscribe!(channel, (message) => {
        stands();
        this.#signs++;
        listener(message);
      });
      return () => {
        stands();
        unsubscribe();
      };
    };
  }

  /** Earlier messages have arrived once marks, published later by every node, have arrived. */
  async #newsIsHere(): Promise<void> {
    const { client, store } = this.opened;
    if (!client || !store.subscribe) return;
    const nodes = client instanceof Cluster ? client.nodes("master") : [client];
    const awaited = this.#marks + nodes.length;
    await Promise.all(nodes.map((node) => node.publish(MARK, "")));
    for (let turn = 0; this.#marks < awaited && turn < 100; turn++) await turnOfLoop();
  }
}
