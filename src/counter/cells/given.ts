import { law } from "../format/law.ts";

/** No batch is larger, so that each can be given again. */
export const MOST_GIVEN_BYTES = 262_144;

export interface GivenBatch {
  number: number;
  /** The last number that was acknowledged before it. */
  before: number;
  total: number;
  rows: Uint8Array;
  /** Where it was acknowledged, `<born>.<generation>`; undefined: it was not, as far as we know. */
  where?: string | undefined;
}

/**
 * What one producer has given to its shard of late, in case the server forgets it in a failover: at most 256 KiB. A batch
 * goes when a call that was sent 10 s after its last acknowledgement was answered by a server that had it.
 */
export class Given {
  #batches: (GivenBatch & { answeredAtMs: number })[] = [];
  #sizeBytes = 0;
  /** The highest number that was ever kept: what was let go of does not come back when it is asked for again. */
  #highest = 0;

  get size(): number {
    return this.#batches.length;
  }
  get last(): GivenBatch | undefined {
    return this.#batches.at(-1);
  }

  /** A batch was answered that was sent then: it counts, and so does all before it. */
  keep(batch: GivenBatch, sentAtMs: number, answeredAtMs: number): void {
    this.letGo(batch.number - 1, sentAtMs);
    const known = this.#batches.find(({ number }) => number === batch.number);
    if (known) {
      known.answeredAtMs = answeredAtMs;
      known.where = batch.where;
    } else if (batch.number > this.#highest) {
      this.#highest = batch.number;
      this.#batches.push({ ...batch, answeredAtMs });
      this.#sizeBytes += batch.rows.length;
      while (this.#sizeBytes > MOST_GIVEN_BYTES) this.#drop();
    }
  }

  /** A call that was sent then, and counted none of these, was answered by a server that had all up to `number`. */
  letGo(number: number, sentAtMs: number): void {
    const isSafe = (one: { number: number; answeredAtMs: number }) =>
      one.number <= number && one.answeredAtMs + law.keptMs <= sentAtMs;
    while (this.#batches.length > 0 && isSafe(this.#batches[0]!)) this.#drop();
  }

  #drop(): void {
    this.#sizeBytes -= this.#batches.shift()!.rows.length;
  }

  /** Those above `reached` and before `batch`, which the server has lost; `isWhole`: they are all that it has. */
  after(reached: number, batch: Pick<GivenBatch, "number" | "before">): { held: GivenBatch[]; isWhole: boolean } {
    for (const one of this.#batches) if (one.number > reached) one.answeredAtMs = Number.POSITIVE_INFINITY;
    const held = this.#batches.filter(({ number }) => number > reached && number < batch.number);
    return { held, isWhole: (held[0] ?? batch).before <= reached };
  }

  clear(): void {
    this.#batches = [];
    this.#sizeBytes = 0;
    this.#highest = 0;
  }
}
