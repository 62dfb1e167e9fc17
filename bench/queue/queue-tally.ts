import type { QueuePayload } from "../rivals/queue/queue.ts";

export function payloadOf(id: number): QueuePayload {
  return { id, to: `user-${id}@example.com`, kind: "reminder" };
}

/** How often each message was handled. */
export class Tally {
  /** Resolves when all messages were handled. */
  readonly full: Promise<void>;
  readonly #times: Uint32Array;
  #handled = 0;
  #fill!: () => void;
  readonly #onHandled: (handled: number, id: number) => void;

  constructor(messages: number, onHandled: (handled: number, id: number) => void = () => {}) {
    this.#times = new Uint32Array(messages);
    this.#onHandled = onHandled;
    this.full = new Promise((resolve) => {
      this.#fill = resolve;
    });
  }

  readonly handle = ({ id }: QueuePayload) => {
    this.#times[id]!++;
    this.#onHandled(++this.#handled, id);
    if (this.#handled === this.#times.length) this.#fill();
  };

  /** Throws where a message was not handled exactly once. */
  verify(queue: string): void {
    const wrong = this.#times.findIndex((times) => times !== 1);
    if (wrong >= 0) throw new Error(`${queue} handled message ${wrong} ${this.#times[wrong]} times`);
  }
}
