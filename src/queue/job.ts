import { type InboxOptions, type InboxTransaction, inboxOnce } from "./inbox.ts";
import type { ClaimedMessage } from "./worker/claimed.ts";

/** A message as its handler receives it. */
export class Job<Payload = unknown> {
  readonly id: string;
  readonly payload: Payload;
  /** The number of this delivery, from 1, and the maximum. */
  readonly attempt: number;
  readonly attempts: number;
  readonly priority: number;
  /** When the message was added: ms since 1970, by the server's clock. */
  readonly addedAtMs: number;
  readonly dueAtMs: number;
  /** Why the previous delivery failed. */
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

  /** Aborts with LOST when this worker no longer holds the message. Another worker may have claimed it. */
  get signal(): AbortSignal {
    return this.#signalOf();
  }

  /**
   * Writes a row for this message into the inbox table, in your transaction. The row and your changes are committed
   * together or not at all. Returns true if your handler should make its changes. Returns false if an earlier delivery
   * has committed them; the handler should then return without changes. Throws ARGUMENT if the connection has no open
   * transaction: the row would be committed without your changes.
   */
  once(transaction: InboxTransaction, options?: InboxOptions): Promise<boolean> {
    return inboxOnce(transaction, this.#queue, this.id, options);
  }
}
