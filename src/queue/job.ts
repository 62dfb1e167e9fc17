import { type InboxOptions, inboxOnce, type Transaction } from "./inbox.ts";
import type { ClaimedMessage } from "./worker/claimed.ts";

/** A message as its handler has it. */
export class Job<Payload = unknown> {
  readonly id: string;
  readonly payload: Payload;
  /** Which delivery this is, from 1, and how many there are at most. */
  readonly attempt: number;
  readonly attempts: number;
  readonly priority: number;
  /** By the server's clock, ms since 1970. */
  readonly addedAtMs: number;
  readonly dueAtMs: number;
  /** Why the delivery before failed. */
  readonly lastError: string | undefined;
  readonly #queue: string;
  readonly #signalOf: () => AbortSignal;

  constructor(queue: string, message: ClaimedMessage<Payload>, signalOf: () => AbortSignal) {
    this.#queue = queue;
    this.id = message.id;
    this.payload = message.payload;
    this.attempt = message.attempt;
    this.attempts = message.attempts;
    this.priority = message.priority;
    this.addedAtMs = message.addedAtMs;
    this.dueAtMs = message.dueAtMs;
    this.lastError = message.lastError;
    this.#signalOf = signalOf;
  }

  /** Aborted when the message is no longer ours (LOST): another worker may have it. */
  get signal(): AbortSignal {
    return this.#signalOf();
  }

  /**
   * Whether this message's effect is still to be made: writes its row into the inbox table in your transaction, so that both
   * are committed or neither. False: a delivery before has committed; return then, without an effect.
   */
  once(transaction: Transaction, options?: InboxOptions): Promise<boolean> {
    return inboxOnce(transaction, this.#queue, this.id, options);
  }
}
