import { Coalescer } from "../async/coalescer.ts";
import { type Deferred, deferred } from "../async/deferred.ts";
import { afterGathering } from "../async/gathering.ts";
import type { Store } from "../store/contract.ts";
import { add, type NewMessage } from "./steps/add.ts";

const MAX_TOGETHER = 256;
const MAX_BATCH_BYTES = 2 ** 18;

interface Batch {
  messages: NewMessage[];
  /** One for each message: whether it was added. */
  outcomes: Deferred<boolean>[];
  sizeBytes: number;
}

/** Collects the messages added in one turn of the event loop, and sends them to their shard in few steps, in order. */
export class AddCoalescer {
  readonly #store: Store;
  readonly #key: string;
  readonly #layout: string;
  readonly #replicas: number;
  readonly #coalescer = new Coalescer<Batch>({
    schedule: afterGathering,
    begin: () => ({ messages: [], outcomes: [], sizeBytes: 0 }),
    send: (batch) => this.#send(batch),
  });

  constructor(store: Store, key: string, layout: string, replicas: number) {
    this.#store = store;
    this.#key = key;
    this.#layout = layout;
    this.#replicas = replicas;
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

  #send({ messages, outcomes }: Batch): void {
    const options = this.#replicas > 0 ? { replicas: this.#replicas } : {};
    this.#store.run(add, this.#key, { layout: this.#layout, messages }, options).then(
      (isAdded) => {
        for (const [i, { resolve }] of outcomes.entries()) resolve(isAdded[i]!);
      },
      (error) => {
        for (const { reject } of outcomes) reject(error);
      },
    );
  }
}
