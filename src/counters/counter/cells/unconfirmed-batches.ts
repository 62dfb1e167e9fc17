import { failoverTimes } from "../format/layout.ts";

/** Maximum bytes of a batch, so that each can be kept and sent again. */
export const MAX_UNCONFIRMED_BYTES = 262_144;

export interface UnconfirmedBatch {
  number: number;
  /** The last number that was acknowledged before this batch. */
  before: number;
  total: number;
  rows: Uint8Array;
  /** Where it was acknowledged, as `<born>.<generation>`. Undefined: no acknowledgement is known. */
  where?: string | undefined;
}

interface AcknowledgedBatch extends UnconfirmedBatch {
  answeredAtMs: number;
}

/**
 * The recent batches of one producer, at most 256 KiB, in case a failover loses them. A batch is dropped when a server
 * that has it answers a call that was sent at least 10 s after its last acknowledgement.
 */
export class UnconfirmedBatches {
  #batches: AcknowledgedBatch[] = [];
  #sizeBytes = 0;
  /** The highest number that was ever kept. A dropped batch is not kept again when it is acknowledged once more. */
  #highest = 0;

  get size(): number {
    return this.#batches.length;
  }
  get last(): UnconfirmedBatch | undefined {
    return this.#batches.at(-1);
  }

  /** The batch sent at `sentAtMs` was answered, so it and all earlier batches count. */
  keep(batch: UnconfirmedBatch, sentAtMs: number, answeredAtMs: number): void {
    this.confirm(batch.number - 1, sentAtMs);
    if (batch.number > this.#highest) this.#add({ ...batch, answeredAtMs });
    else this.#acknowledgeAgain(batch, answeredAtMs);
  }

  #add(batch: AcknowledgedBatch): void {
    this.#highest = batch.number;
    this.#batches.push(batch);
    this.#sizeBytes += batch.rows.length;
    while (this.#sizeBytes > MAX_UNCONFIRMED_BYTES) this.#drop();
  }

  #acknowledgeAgain({ number, where }: UnconfirmedBatch, answeredAtMs: number): void {
    const kept = this.#batches.find((one) => one.number === number);
    if (kept) Object.assign(kept, { where, answeredAtMs });
  }

  /**
   * A call sent at `sentAtMs` that counts none of these was answered by a server that has everything up to `number`.
   */
  confirm(number: number, sentAtMs: number): void {
    const isSafe = (one: { number: number; answeredAtMs: number }) =>
      one.number <= number && one.answeredAtMs + failoverTimes.keptMs <= sentAtMs;
    while (this.#batches.length > 0 && isSafe(this.#batches[0]!)) this.#drop();
  }

  #drop(): void {
    this.#sizeBytes -= this.#batches.shift()!.rows.length;
  }

  /** The kept batches above `reached` and before `batch`, which the server lost. `isWhole`: none is missing. */
  after(
    reached: number,
    batch: Pick<UnconfirmedBatch, "number" | "before">,
  ): { held: UnconfirmedBatch[]; isWhole: boolean } {
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
