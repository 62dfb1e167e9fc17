import { argumentError, corruptError, OrielError, reasonText, show } from "../base/errors.ts";
import { hexOf } from "../base/hex.ts";
import { settingsOf } from "../base/options.ts";
import { Site } from "../base/site.ts";
import type { Duration } from "../base/time.ts";
import { type Backoff, pauseMs } from "./backoff.ts";
import { noMessage, readEnvelope } from "./format/envelope.ts";
import { addedAtMs, idOf, keysOfShard, seqOf } from "./format/layout.ts";
import { type InboxOptions, type InboxTransaction, inboxOnce } from "./inbox.ts";
import { AGAIN, isId } from "./options.ts";
import type { Claim, Outcome } from "./steps/settle-and-claim.ts";

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
    try {
      this.#call("once");
      return await inboxOnce(transaction, this.#queue, this.id, options);
    } catch (error) {
      throw this.#at.error("once", error);
    }
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

/** A claimed message, and the receipt that proves the claim. */
export interface ClaimedMessage<Payload = unknown> {
  id: string;
  payload: Payload;
  /** The number of this delivery, and the maximum. */
  attempt: number;
  attempts: number;
  priority: number;
  addedAtMs: number;
  /** When the message was due or, after a lapse, when its claim lapsed. By the server's clock. */
  dueAtMs: number;
  /** An earlier claim lapsed: it was neither acknowledged nor extended in time. */
  hasLapsed: boolean;
  /** Why the previous delivery failed. */
  lastError?: string;
  receipt: { member: string; deliveries: number };
  backoff: Backoff;
}

/** Throws ARGUMENT for a value that `claim` cannot have returned. */
export function checkClaimed(message: ClaimedMessage): void {
  const { receipt, backoff, attempt, attempts } = message ?? {};
  const numbers = [receipt?.deliveries, attempt, attempts, backoff?.firstMs, backoff?.factor, backoff?.longestMs];
  if (typeof receipt?.member !== "string" || !numbers.every(Number.isFinite))
    throw argumentError("message", message, "a message as claim gave it");
}

const MAX_WHY = 1000;
const encoder = new TextEncoder();

/** Throws CORRUPT, with the reason, if the stored bytes are not a message. */
export function claimOf<Payload>(claim: Claim): ClaimedMessage<Payload> {
  const { member, deliveries, hasLapsed, sinceMs, envelope, why } = claim;
  const id = idOf(member);
  if (claim.isForeign || Number.isNaN(seqOf(member))) throw noMessage("its seq is not that of its member");
  if (Number.isNaN(sinceMs)) throw noMessage("its score is no time of a message");
  if (claim.memberBytes && !isTextOf(member, claim.memberBytes)) throw noMessage("its id is no UTF-8");
  if (!isId(id)) throw noMessage("its id is none that a message can have");
  const { attempts, priority, backoff, payload } = readEnvelope(envelope);
  return {
    id,
    payload: payload as Payload,
    attempt: deliveries,
    attempts,
    priority,
    addedAtMs: addedAtMs(seqOf(member)),
    dueAtMs: sinceMs,
    hasLapsed,
    ...(why !== "" && { lastError: why }),
    receipt: { member, deliveries },
    backoff,
  };
}

/** The result for a claim whose bytes are not a message. */
export function corruptOutcomeOf({ member, memberBytes }: Claim, error: unknown): Outcome & { verb: "corrupt" } {
  const bytes = memberBytes ?? encoder.encode(member);
  const id = idOf(member);
  const isKept = isId(id) && (!memberBytes || isTextOf(member, memberBytes));
  return {
    verb: "corrupt",
    why: whyOf(error),
    id: isKept ? id : `corrupt-${hexOf(bytes.subarray(0, 100))}`,
    memberBytes,
  };
}

/** `key`: the shard's first. */
export function corruptMessage(key: string, id: string, cause: unknown): OrielError {
  const why = cause instanceof OrielError ? cause.message : String(cause);
  return corruptError(keysOfShard(key)[1]!, `message ${id}: ${why}`, { cause });
}

function isTextOf(text: string, bytes: Uint8Array): boolean {
  const again = encoder.encode(text);
  return again.length === bytes.length && again.every((byte, i) => byte === bytes[i]);
}

/** The result for a message whose delivery failed. */
export function outcomeOf(
  { attempt, attempts, priority, backoff }: Omit<ClaimedMessage, "payload">,
  error: unknown,
  delayMs?: number,
  maxAttempts = attempts,
): Outcome {
  const refusal = doNotRetryOf(error);
  const isWrapped = refusal !== undefined && refusal !== error;
  const why = isWrapped ? cut(`${reasonText(refusal)} (${reasonText(error)})`) : whyOf(error);
  if (refusal !== undefined || attempt >= Math.min(attempts, maxAttempts)) return { verb: "dead", why };
  return { verb: "retry", delayMs: delayMs ?? pauseMs(backoff, attempt), priority, why };
}

function whyOf(error: unknown): string {
  const isCorrupt = error instanceof OrielError && error.code === "CORRUPT";
  return cut(isCorrupt ? `CORRUPT: ${error.message}` : reasonText(error));
}

function cut(why: string): string {
  return why.slice(0, MAX_WHY).replace(/\p{Surrogate}/gu, "") || "failed";
}

const MAX_CAUSES = 10;

/**
 * Thrown by a handler if no further delivery can succeed: the message moves to the dead letters at once, with this
 * error as the reason. The same holds for an error that has it as its `cause`, or as the cause of its cause, up to ten
 * errors deep. It is known by its property `doNotRetry`, so an error of another copy of oriel counts, and so does your
 * own error with `doNotRetry: true`.
 */
export class DoNotRetryError extends Error {
  static {
    Object.defineProperty(DoNotRetryError, "name", { value: "DoNotRetryError" });
  }

  override readonly name: string = "DoNotRetryError";
  readonly doNotRetry = true;

  /** `message` is the reason. */
  constructor(message?: string, options?: { cause?: unknown }) {
    super(message === undefined || typeof message === "string" ? message : show(message), options);
  }
}

/** The error that says so: the thrown one, or one of its causes. */
export function doNotRetryOf(thrown: unknown): unknown {
  return causeOf(thrown, (error) => error.doNotRetry === true);
}

interface Thrown {
  doNotRetry?: unknown;
  name?: unknown;
  cause?: unknown;
}

/** The first that holds: the thrown object, its cause, the cause of that, and so on. A getter that throws ends the search. */
export function causeOf(thrown: unknown, holds: (error: Thrown) => boolean): unknown {
  try {
    let error = thrown as Thrown | null | undefined;
    for (let i = 0; i <= MAX_CAUSES && typeof error === "object" && error !== null; i++) {
      if (holds(error)) return error;
      error = error.cause as Thrown | null | undefined;
    }
  } catch {
    // A getter or a proxy has thrown, so the object is unknown.
  }
  return undefined;
}
