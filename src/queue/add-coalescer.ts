import { Coalescer } from "../base/async/coalescer.ts";
import { type Deferred, deferred } from "../base/async/deferred.ts";
import { afterGathering } from "../base/async/gathering.ts";
import type { Store } from "../store/contract.ts";
import type { Agreement } from "./agreement.ts";
import { add, type NewMessage } from "./steps/add.ts";

const MAX_TOGETHER = 256;
const MAX_BATCH_BYTES = 2 ** 18;

interface AddTarget {
  readonly store: Store;
  readonly key: string;
  readonly layout: string;
  readonly replicas: number;
}

interface Batch {
  messages: NewMessage[];
  /** One for each message: whether it was added. */
  outcomes: Deferred<boolean>[];
  sizeBytes: number;
}

/** What `DelayQueue.add` did. */
export interface AddResult {
  id: string;
  /**
   * False if a message with this id waits, is claimed or dead, or was added less than `dedupeFor` ago. That message
   * stays unchanged. After a lost reply, this same call may have added it.
   */
  isNew: boolean;
}

/** Collects the messages added in one turn of the event loop, and sends them to their shard in few steps, in order. */
export class AddCoalescer {
  readonly #target: AddTarget;
  readonly #agreement: Agreement;
  readonly #coalescer = new Coalescer<Batch>({
    schedule: afterGathering,
    begin: () => ({ messages: [], outcomes: [], sizeBytes: 0 }),
    send: (batch) => this.#send(batch),
  });

  constructor(target: AddTarget, agreement: Agreement) {
    this.#target = target;
    this.#agreement = agreement;
  }

  /** Resolves to true if the message was added, to false if its id was known. */
  add(message: NewMessage): Promise<boolean> {
    const batch = this.#coalescer.open();
    const outcome = deferred<boolean>();
    batch.messages.push(message);
    batch.outcomes.push(outcome);
    batch.sizeBytes += message.envelope.length + message.id.length;
    if (batch.messages.length >= MAX_TOGETHER || batch.sizeBytes >= MAX_BATCH_BYTES) this.#coalescer.flush();
    return outcome.promise;
  }

  #send(batch: Batch): void {
    if (this.#agreement.isReached) this.#run(batch);
    else
      this.#agreement.reach().then(
        () => this.#run(batch),
        (error) => fail(batch, error),
      );
  }

  #run(batch: Batch): void {
    const { messages, outcomes } = batch;
    const { store, key, layout, replicas } = this.#target;
    store.run(add, key, { layout, messages }, replicas > 0 ? { replicas } : {}).then(
      (isAdded) => {
        for (const [i, { resolve }] of outcomes.entries()) resolve(isAdded[i]!);
      },
      (error) => fail(batch, error),
    );
  }
}

function fail({ outcomes }: Batch, error: unknown): void {
  for (const { reject } of outcomes) reject(error);
}
