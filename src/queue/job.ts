import { OrielError } from "../base/errors.ts";
import { settingsOf } from "../base/options.ts";
import { Site } from "../base/site.ts";
import type { Duration } from "../base/time.ts";
import { type InboxOptions, type InboxTransaction, inboxOnce } from "./inbox.ts";
import { AGAIN } from "./options.ts";
import type { ClaimedMessage } from "./worker/claimed.ts";

/** The worker that runs the handler of a job. */
interface JobHolder {
  signal(): AbortSignal;
  /** Returns false if the handler has ended. */
  again(delayMs: number): boolean;
}

/** A message as its handler receives it. */
export class Job<Payload = unknown> {
  readonly id: string;
  readonly payload: Payload;
  /** The number of this delivery, from 1, and the maximum. */
  readonly attempt: number;
  readonly attempts: number;
  readonly priority: number;
  /** When the message was added, or came again: ms since 1970, by the server's clock. */
  readonly addedAtMs: number;
  readonly dueAtMs: number;
  /** Why the previous delivery failed. */
  readonly lastError: string | undefined;
  readonly #queue: string;
  readonly #holder: JobHolder;
  /** Which of `once` and `again` was called. They exclude each other. */
  #called: "once" | "again" | undefined;

  constructor(queue: string, message: ClaimedMessage<Payload>, holder: JobHolder) {
    this.#queue = queue;
    this.id = message.id;
    this.payload = message.payload;
    this.attempt = message.attempt;
    this.attempts = message.attempts;
    this.priority = message.priority;
    this.addedAtMs = message.addedAtMs;
    this.dueAtMs = message.dueAtMs;
    this.lastError = message.lastError;
    this.#holder = holder;
  }

  /**
   * Aborts with LOST when this worker no longer holds the message. Another worker may have claimed it. Aborts with an
   * AbortError when `worker.close({ within })` is called. The message is still held then, until the time is over.
   */
  get signal(): AbortSignal {
    return this.#holder.signal();
  }

  /**
   * Lets the message come again, `delay` after its handler has ended: 0 to 50 years. If the handler returns, the message
   * is not done. It waits as if it had just been added, with all of its attempts, and with the same id, payload and
   * priority. If the handler throws, the delivery has failed as usual, and a retry comes after `delay` instead of the
   * backoff. The last call counts. Throws ARGUMENT for a wrong delay, or if `once` was called for this delivery: the row
   * would make all later deliveries of the message do nothing. Throws LOST if the handler has ended, or its message was given back.
   */
  again(options: { delay: Duration }): void {
    this.#at.checked("again", () => {
      const { delayMs } = settingsOf(AGAIN, options);
      this.#call("again");
      if (!this.#holder.again(delayMs))
        throw new OrielError("LOST", "the handler has ended, or its message was given back");
    });
  }

  /**
   * Writes a row for this message into the inbox table, in your transaction. The row and your changes are committed
   * together or not at all. Returns true if your handler should make its changes. Returns false if an earlier delivery
   * has committed them; the handler should then return without changes. Throws ARGUMENT if the connection has no open
   * transaction, since the row would be committed without your changes, or if `again` was called for this delivery.
   */
  async once(transaction: InboxTransaction, options?: InboxOptions): Promise<boolean> {
    this.#at.checked("once", () => this.#call("once"));
    return inboxOnce(transaction, this.#queue, this.id, options);
  }

  get #at(): Site {
    return new Site("Job", this.id);
  }

  #call(method: "once" | "again"): void {
    this.#called ??= method;
    if (this.#called === method) return;
    const why = "once and again exclude each other: after the row of once, each later delivery would do nothing";
    throw new OrielError("ARGUMENT", why);
  }
}
