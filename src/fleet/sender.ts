import { endsWithRequest } from "../async/of-request.ts";
import { OrielError } from "../errors.ts";
import { bucketStartMs } from "../metrics/shape.ts";
import type { Store } from "../store/contract.ts";
import { ALLOWED, DENIED, FAILURE, merge, START, SUCCESS } from "./bucket.ts";
import { type Fate, flush, type NamedBucket } from "./flush.ts";
import { Gathered } from "./gathered.ts";
import { read } from "./read.ts";
import type { RingShape } from "./ring.ts";

export interface SenderOptions {
  store: Store;
  key: string;
  shape: RingShape;
  /** What became of what was sent, or, "too late", can be in no window any more, and was never added. */
  onFate(given: NamedBucket, fate: Fate): void;
}

const SMALLER = 20;

interface Batch {
  number: number;
  given: readonly NamedBucket[];
  /** An attempt was not answered: it may be added, and goes on under its number. */
  mayBeAdded: boolean;
  /** Copies without an answer; in Workers another may be sent beside one. */
  underWay: number;
}

/**
 * Brings what a process counts to its fleet, one batch at a time, each under the next number of a name of our own: one whose
 * answer is lost is sent again under its number, and counts once.
 */
export class Sender {
  readonly gathered = new Gathered();
  readonly #options: SenderOptions;
  /** Drawn when it is used: Workers draw nothing while a module is loaded. */
  #id: string | undefined;
  #number = 0;
  #batch: Batch | undefined;
  #sending: Promise<void> | undefined;
  /** The server's time minus ours. */
  #aheadMs = 0;
  /** Before, what is counted is kept in smaller buckets of our own time. */
  #isTimeKnown = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  get hasWork(): boolean {
    return this.#batch !== undefined || !this.gathered.isEmpty;
  }

  /** What was counted, and has no fate yet. */
  *pending(): Generator<NamedBucket> {
    yield* this.#batch?.given ?? [];
    yield* this.gathered.all();
  }

  /** The server's time of an instant of ours, estimated; of our own until `learnTime` has resolved. */
  serverMs(monotonicMs: number): number {
    return monotonicMs + this.#aheadMs;
  }

  /** What is counted now for `name`, to be added to at once. */
  bucketOf(name: string): Float64Array {
    const { bucketMs } = this.#options.shape;
    const lengthMs = this.#isTimeKnown ? bucketMs : Math.ceil(bucketMs / SMALLER);
    return this.gathered.bucketOf(
      name,
      bucketStartMs(this.serverMs(this.#options.store.leaseClock()), lengthMs, "FleetMetrics"),
    );
  }

  /** Lets go of what can be in no window any more: what is held while a server is away stays bounded. */
  dropOld(): void {
    const { shape, store, onFate } = this.#options;
    const nowMs = this.serverMs(store.leaseClock());
    const old = this.gathered.takeBefore(nowMs - (shape.sampleCount + 1) * shape.bucketMs);
    for (const each of old) onFate(each, "too late");
  }

  /**
   * Resolves when all that was gathered before is added; rejects where the store does not answer: it is kept. In Workers a
   * batch that is under way is sent again under its number, as its request may have ended.
   */
  async send(): Promise<void> {
    while (this.#sending && !endsWithRequest) await this.#sending.catch(() => {});
    if (!this.hasWork) return;
    const sending = this.#sendAll();
    this.#sending = sending;
    try {
      await sending;
    } finally {
      if (this.#sending === sending) this.#sending = undefined;
    }
  }

  async #sendAll(): Promise<void> {
    await this.learnTime();
    while (this.hasWork) {
      this.#batch ??= { number: ++this.#number, given: this.gathered.take(), mayBeAdded: false, underWay: 0 };
      const batch = this.#batch;
      if (batch.given.length > 0) await this.#sendBatch(batch);
      if (this.#batch === batch) this.#batch = undefined;
    }
  }

  /** Asks the server for its time, once; rejects where it does not answer. */
  async learnTime(): Promise<void> {
    if (this.#isTimeKnown) return;
    const { store, key, shape } = this.#options;
    const sentAtMs = store.leaseClock();
    const { nowMs } = await store.run(read, key, { ...shape, first: 0, most: 0, name: "" });
    if (this.#isTimeKnown) return;
    this.#aheadMs = nowMs - (sentAtMs + store.leaseClock()) / 2;
    this.gathered.rebase((startMs) => bucketStartMs(startMs + this.#aheadMs, shape.bucketMs, "FleetMetrics"));
    this.#isTimeKnown = true;
  }

  async #sendBatch(batch: Batch): Promise<void> {
    const { number, given } = batch;
    const { store, key, shape, onFate } = this.#options;
    const sentAtMs = store.leaseClock();
    this.#id ??= crypto.randomUUID().replaceAll("-", "").slice(0, 8);
    batch.underWay++;
    const answer = await store.run(flush, key, { ...shape, sender: this.#id, number, given }).catch((error) => {
      const isRefused = error instanceof OrielError && error.applied === "no";
      if (--batch.underWay === 0 && isRefused && !batch.mayBeAdded) this.#takeBack(batch);
      else batch.mayBeAdded = true;
      throw error;
    });
    this.#aheadMs = answer.nowMs - (sentAtMs + store.leaseClock()) / 2;
    if (this.#batch !== batch) return;
    for (const [i, fate] of answer.fates.entries()) onFate(given[i]!, fate);
  }

  /** What was refused waits with what comes meanwhile, until it is too late for any window. */
  #takeBack({ given }: Batch): void {
    this.#batch = undefined;
    for (const { name, bucket } of given) merge(this.gathered.bucketOf(name, bucket[START]!), bucket);
  }
}

export function eventsOf(bucket: Float64Array): number {
  return bucket[ALLOWED]! + bucket[DENIED]! + bucket[SUCCESS]! + bucket[FAILURE]!;
}
