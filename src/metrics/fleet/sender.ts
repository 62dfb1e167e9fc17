import { endsWithRequest } from "../../base/async/of-request.ts";
import { OrielError } from "../../base/errors.ts";
import type { Store } from "../../store/contract.ts";
import { bucketStartMs } from "../window/shape.ts";
import { ALLOWED, DENIED, FAILURE, merge, newBucket, START, SUCCESS } from "./bucket.ts";
import { type BucketOutcome, flush, MAX_BUCKETS_PER_FLUSH, type NamedBucket } from "./flush.ts";
import { read } from "./read.ts";
import type { RingShape } from "./ring.ts";

export interface SenderOptions {
  store: Store;
  key: string;
  shape: RingShape;
  /** Reports the outcome of a bucket. "too late": it can no longer be in any window and was never added. */
  onOutcome(given: NamedBucket, outcome: BucketOutcome): void;
}

const SMALLER = 20;

interface Batch {
  number: number;
  given: readonly NamedBucket[];
  /** An attempt got no answer. The batch may be added, so it keeps its number. */
  mayBeAdded: boolean;
  /** Requests without an answer. In Workers a second copy may be sent while one is pending. */
  underWay: number;
}

/**
 * Sends the counts of a process to its fleet, one batch at a time. Each batch has the next number under a random sender
 * name. A batch whose answer is lost is sent again with the same number, and counts once.
 */
export class Sender {
  readonly unsent = new UnsentBuckets();
  readonly #options: SenderOptions;
  /** Drawn on first use, because Workers allow no random numbers while a module loads. */
  #id: string | undefined;
  #number = 0;
  #batch: Batch | undefined;
  #sending: Promise<void> | undefined;
  /** The server's time minus the local monotonic time: an estimate, and the least that it can be. */
  #aheadMs = 0;
  #minAheadMs = 0;
  /** Whether the server's time is known. Until then, counts go into smaller buckets of local time. */
  #isTimeKnown = false;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  get hasWork(): boolean {
    return this.#batch !== undefined || !this.unsent.isEmpty;
  }

  /** Counts whose outcome is still unknown. */
  *pending(): Generator<NamedBucket> {
    yield* this.#batch?.given ?? [];
    yield* this.unsent.all();
  }

  /** Estimates the server's time of a local instant. Uses the local clock until `learnTime` has resolved. */
  serverMs(monotonicMs: number): number {
    return monotonicMs + this.#aheadMs;
  }

  /**
   * The server's time of a local instant, or up to one round trip earlier, but never later. An event that is dated later
   * than the server's time is not in the present window.
   */
  earliestServerMs(monotonicMs: number): number {
    return monotonicMs + this.#minAheadMs;
  }

  /** The bucket of the current time for `name`. Add to it at once. */
  bucketOf(name: string): Float64Array {
    const { bucketMs } = this.#options.shape;
    const lengthMs = this.#isTimeKnown ? bucketMs : Math.ceil(bucketMs / SMALLER);
    return this.unsent.bucketOf(
      name,
      bucketStartMs(this.serverMs(this.#options.store.leaseClock()), lengthMs, "FleetMetrics"),
    );
  }

  /** Drops buckets that can be in no window any more, so memory stays bounded while a server is unreachable. */
  dropOld(): void {
    const { shape, store, onOutcome } = this.#options;
    const nowMs = this.serverMs(store.leaseClock());
    const old = this.unsent.takeBefore(nowMs - (shape.sampleCount + 1) * shape.bucketMs);
    for (const each of old) onOutcome(each, "too late");
  }

  /**
   * Resolves when everything counted before the call is added. If the store does not answer, rejects and keeps the
   * counts. In Workers a pending batch is sent again with its number, because the request that sent it may have ended.
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
      this.#batch ??= { number: ++this.#number, given: this.unsent.take(), mayBeAdded: false, underWay: 0 };
      const batch = this.#batch;
      if (batch.given.length > 0) await this.#sendBatch(batch);
      if (this.#batch === batch) this.#batch = undefined;
    }
  }

  /** Asks the server for its time, once. Rejects if it does not answer. */
  async learnTime(): Promise<void> {
    if (this.#isTimeKnown) return;
    const { store, key, shape } = this.#options;
    const sentAtMs = store.leaseClock();
    const { nowMs } = await store.run(read, key, { ...shape, first: 0, limit: 0, name: "" });
    if (this.#isTimeKnown) return;
    this.#learn(nowMs, sentAtMs);
    this.unsent.rebase((startMs) => bucketStartMs(startMs + this.#aheadMs, shape.bucketMs, "FleetMetrics"));
    this.#isTimeKnown = true;
  }

  /** The server read its clock at some instant between the request and the reply. */
  #learn(nowMs: number, sentAtMs: number): void {
    const repliedAtMs = this.#options.store.leaseClock();
    this.#aheadMs = nowMs - (sentAtMs + repliedAtMs) / 2;
    this.#minAheadMs = nowMs - repliedAtMs;
  }

  async #sendBatch(batch: Batch): Promise<void> {
    const { number, given } = batch;
    const { store, key, shape, onOutcome } = this.#options;
    const sentAtMs = store.leaseClock();
    this.#id ??= crypto.randomUUID().replaceAll("-", "").slice(0, 8);
    batch.underWay++;
    const answer = await store.run(flush, key, { ...shape, sender: this.#id, number, given }).catch((error) => {
      const isRefused = error instanceof OrielError && error.applied === "no";
      if (--batch.underWay === 0 && isRefused && !batch.mayBeAdded) this.#takeBack(batch);
      else batch.mayBeAdded = true;
      throw error;
    });
    this.#learn(answer.nowMs, sentAtMs);
    if (this.#batch !== batch) return;
    for (const [i, outcome] of answer.outcomes.entries()) onOutcome(given[i]!, outcome);
  }

  /** Puts a refused batch back to be sent with newer counts, until it is too late for any window. */
  #takeBack({ given }: Batch): void {
    this.#batch = undefined;
    for (const { name, bucket } of given) merge(this.unsent.bucketOf(name, bucket[START]!), bucket);
  }
}

export function eventsOf(bucket: Float64Array): number {
  return bucket[ALLOWED]! + bucket[DENIED]! + bucket[SUCCESS]! + bucket[FAILURE]!;
}

/** Counts of this process that are not sent yet: for each name, its buckets by start time. */
class UnsentBuckets {
  readonly #byName = new Map<string, Map<number, Float64Array>>();

  get isEmpty(): boolean {
    return this.#byName.size === 0;
  }

  /** Returns a bucket. Add to it at once: a bucket that `take` has removed is no longer counted here. */
  bucketOf(name: string, startMs: number): Float64Array {
    let buckets = this.#byName.get(name);
    if (!buckets) {
      buckets = new Map();
      this.#byName.set(name, buckets);
    }
    let bucket = buckets.get(startMs);
    if (!bucket) {
      bucket = newBucket(startMs);
      buckets.set(startMs, bucket);
    }
    return bucket;
  }

  /** Moves all buckets to other starts. Buckets with the same new start are merged. */
  rebase(startOf: (startMs: number) => number): void {
    const before = [...this.#byName];
    this.#byName.clear();
    for (const [name, buckets] of before)
      for (const [startMs, bucket] of buckets) merge(this.bucketOf(name, startOf(startMs)), bucket);
  }

  /** Removes and returns as many buckets as one call can carry. */
  take(): NamedBucket[] {
    const taken: NamedBucket[] = [];
    for (const [name, buckets] of this.#byName) {
      if (taken.length + buckets.size > MAX_BUCKETS_PER_FLUSH && taken.length > 0) break;
      for (const [startMs, bucket] of buckets) {
        if (taken.length === MAX_BUCKETS_PER_FLUSH) return taken;
        taken.push({ name, bucket });
        buckets.delete(startMs);
      }
      this.#byName.delete(name);
    }
    return taken;
  }

  /** Iterates over all buckets without removing them. */
  *all(): Generator<NamedBucket> {
    for (const [name, buckets] of this.#byName) for (const bucket of buckets.values()) yield { name, bucket };
  }

  /** Removes and returns buckets that start before `startMs`. */
  takeBefore(startMs: number): NamedBucket[] {
    const taken: NamedBucket[] = [];
    for (const [name, buckets] of this.#byName) {
      for (const [beganMs, bucket] of buckets)
        if (beganMs < startMs) {
          taken.push({ name, bucket });
          buckets.delete(beganMs);
        }
      if (buckets.size === 0) this.#byName.delete(name);
    }
    return taken;
  }
}
