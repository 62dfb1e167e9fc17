import { gathering } from "../async/gathering.ts";
import type { Store } from "../store/contract.ts";
import { add, type NewMessage } from "./steps/add.ts";

const MAX_TOGETHER = 256;
const MAX_BYTES = 2 ** 18;

interface PendingAdd {
  message: NewMessage;
  resolve(isAdded: boolean): void;
  reject(error: unknown): void;
}

/** Collects the messages added in one turn of the event loop, and sends them to their shard in few steps, in order. */
export class AddCoalescer {
  readonly #store: Store;
  readonly #key: string;
  readonly #layout: string;
  readonly #replicas: number;
  #open: PendingAdd[] = [];
  #sizeBytes = 0;

  constructor(store: Store, key: string, layout: string, replicas: number) {
    this.#store = store;
    this.#key = key;
    this.#layout = layout;
    this.#replicas = replicas;
  }

  /** Resolves to true if the message was added, to false if its id was known. */
  add(message: NewMessage): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.#open.length === 0) gathering().then(this.#send);
      this.#open.push({ message, resolve, reject });
      this.#sizeBytes += message.envelope.length + message.id.length;
      if (this.#open.length >= MAX_TOGETHER || this.#sizeBytes >= MAX_BYTES) this.#send();
    });
  }

  readonly #send = () => {
    const adding = this.#open;
    if (adding.length === 0) return;
    this.#open = [];
    this.#sizeBytes = 0;
    const messages = adding.map(({ message }) => message);
    const options = this.#replicas > 0 ? { replicas: this.#replicas } : {};
    this.#store.run(add, this.#key, { layout: this.#layout, messages }, options).then(
      (isAdded) => {
        for (const [i, { resolve }] of adding.entries()) resolve(isAdded[i]!);
      },
      (error) => {
        for (const { reject } of adding) reject(error);
      },
    );
  };
}
