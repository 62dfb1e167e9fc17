import { Listeners } from "../../base/async/listeners.ts";
import { OrielError } from "../../base/errors.ts";
import type { Site } from "../../base/site.ts";
import type { Store } from "../../store/contract.ts";
import { idOf } from "../format/layout.ts";
import type { ClaimedMessage } from "../job.ts";
import type { ExhaustedMessage, Settlement, SettleStatus } from "../steps/settle-and-claim.ts";
import type { HeldMessage, OwnMessages } from "./held-messages.ts";

/** A message whose result is being sent. */
type Ended = Pick<HeldMessage<unknown>, "startedAtMs" | "error" | "own" | "isDead"> & {
  message: Pick<ClaimedMessage, "id" | "attempt" | "receipt">;
};

/** Emits a worker's events for the results of its messages. */
export class WorkerEmitter {
  readonly at: Site;
  readonly listeners: Listeners<WorkerEvents>;
  readonly #store: Store;
  readonly #ownMessages: OwnMessages;
  /** Results that are being sent. */
  readonly #inFlight = new Map<Settlement, Ended>();

  constructor(at: Site, store: Store, ownMessages: OwnMessages) {
    this.at = at;
    this.#ownMessages = ownMessages;
    this.listeners = new Listeners(at, WORKER_EVENTS, (error) => ({ error }));
    this.#store = store;
  }

  error(error: unknown): void {
    this.#store.goesOnWithout?.(`${this.at.name} delivers no messages`, error);
    this.listeners.emit("error", { error: this.at.error(undefined, error) });
  }

  /** Returns how late the message is. */
  claimed({ id, attempt, dueAtMs, hasLapsed }: ClaimedMessage, nowMs: number): number {
    const lateMs = Math.max(0, nowMs - dueAtMs);
    this.listeners.emit("claimed", { id, attempt, lateMs });
    if (hasLapsed) this.listeners.emit("stalled", { id, attempt });
    return lateMs;
  }

  /** Messages whose last delivery lapsed. It may be one of this worker's, which it holds or whose result is being sent. */
  died(exhausted: readonly ExhaustedMessage[], held: Iterable<Ended>): void {
    const here = [...held, ...this.#inFlight.values()];
    for (const { member, deliveries: attempt } of exhausted) {
      const id = idOf(member);
      for (const each of here)
        if (each.message.receipt.member === member && each.message.attempt === attempt) each.isDead = true;
      const lapsed = new OrielError("LOST", `message ${id} was not acknowledged in its last delivery`);
      this.listeners.emit("stalled", { id, attempt });
      this.listeners.emit("dead", { id, attempt, error: this.at.error(undefined, lapsed) });
    }
  }

  /** Registers a result that is being sent. */
  expect(settlement: Settlement, ended: Ended): void {
    this.#inFlight.set(settlement, ended);
  }

  /** A closed worker stops waiting for results; their outcome stays unknown. */
  abandonAll(): void {
    for (const settlement of [...this.#inFlight.keys()]) this.end(settlement, "stale", false);
  }

  /** Emits the event for the outcome of a result. */
  end(settlement: Settlement, status: SettleStatus, isRetry: boolean): void {
    const ended = this.#inFlight.get(settlement);
    this.#inFlight.delete(settlement);
    if (!ended) return;
    // It is unknown whether the retry was stored or the claim lapsed. The message is delivered again in both cases.
    const isDelivered = settlement.verb === "retry" || settlement.verb === "again";
    const isStored = status === "settled" || (isRetry && (status === "repeated" || isDelivered));
    // After `dead` no other outcome follows, unless the result took the message out of the dead letters.
    const isRevival = settlement.verb === "done" || settlement.verb === "again";
    if (!ended.isDead || (isStored && isRevival)) this.#emit(settlement, ended, isStored);
    if (ended.own) this.#ownMessages.end(ended.own, isStored && settlement.verb === "done");
  }

  #emit(settlement: Settlement, ended: Ended, isStored: boolean): void {
    const { id, attempt } = ended.message;
    const durationMs = this.#store.leaseClock() - ended.startedAtMs;
    // A delivery that is given back has no result.
    if (!isStored || settlement.verb === "release") {
      // Another worker then moves the corrupt bytes and emits the event.
      if (settlement.verb !== "corrupt") this.listeners.emit("lost", { id, attempt });
    } else if (settlement.verb === "done") this.listeners.emit("completed", { id, attempt, durationMs });
    else if (settlement.verb === "again")
      this.listeners.emit("again", { id, attempt, durationMs, delayMs: settlement.delayMs });
    else if (settlement.verb === "retry") this.listeners.emit("retry", { id, attempt, delayMs: settlement.delayMs });
    else this.listeners.emit("dead", { id, attempt, error: ended.error });
  }
}

/** The events of a worker, and their data. */
export interface WorkerEvents {
  /** The worker has claimed a message, `lateMs` after it was due by the server's clock. */
  claimed: { id: string; attempt: number; lateMs: number };
  /** The handler of a message starts, `waitMs` after this worker claimed it. */
  started: { id: string; attempt: number; waitMs: number };
  /** A message is done. */
  completed: { id: string; attempt: number; durationMs: number };
  /** A handler has returned after `job.again`: the message comes again after `delayMs`. */
  again: { id: string; attempt: number; durationMs: number; delayMs: number };
  /** A handler threw. */
  failed: { id: string; attempt: number; error: unknown };
  /** The message will be retried. */
  retry: { id: string; attempt: number; delayMs: number };
  /**
   * A message has moved to the dead letters: its last delivery failed (`error` is what the handler threw) or lapsed
   * (LOST), its handler threw a DoNotRetryError, or its bytes are not a message (CORRUPT). Emitted once, by the worker that moved it.
   * If the delivery lapsed and its handler still completes the message, it leaves the dead letters, and `completed` follows.
   * If the handler called `job.again`, `again` follows. Nothing else follows.
   */
  dead: { id: string; attempt: number; error: unknown };
  /**
   * An earlier claim of this message lapsed without an acknowledgement. The message is delivered again, or is `dead`
   * after its last delivery.
   */
  stalled: { id: string; attempt: number };
  /**
   * This worker no longer holds the message and its result was not stored: another delivery claimed it, or it is gone.
   * Also emitted when the worker closed before it learned whether the result was stored; the message may then be
   * delivered again. Also emitted for a message that `close({ within })` gave back. Never follows `dead`.
   */
  lost: { id: string; attempt: number };
  /** Messages are claimed late: the oldest of this turn was `lateMs` overdue. */
  lag: { lateMs: number };
  /** A request to the store failed. The worker retries. Or a listener threw or rejected: ARGUMENT, with its `cause`. */
  error: { error: unknown };
}

const WORKER_EVENTS: Record<keyof WorkerEvents, true> = {
  claimed: true,
  started: true,
  completed: true,
  again: true,
  failed: true,
  retry: true,
  dead: true,
  stalled: true,
  lost: true,
  lag: true,
  error: true,
};
