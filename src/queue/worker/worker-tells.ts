import { Listeners } from "../../async/listeners.ts";
import { OrielError } from "../../errors.ts";
import type { Place } from "../../place.ts";
import type { Store } from "../../store/contract.ts";
import { idOf } from "../format/layout.ts";
import type { Died, Fate, Result } from "../steps/exchange.ts";
import type { ClaimedMessage } from "./claimed.ts";
import type { Held } from "./held.ts";
import { WORKER_EVENTS, type WorkerEvents } from "./worker-events.ts";

/** A message whose result is being sent. */
type Ended = Pick<Held<unknown>, "startedAtMs" | "error"> & { message: Pick<ClaimedMessage, "id" | "attempt"> };

/** Emits a worker's events for the results of its messages. */
export class WorkerTells {
  readonly at: Place;
  readonly listeners: Listeners<WorkerEvents>;
  readonly #store: Store;
  /** Results that are being sent. */
  readonly #bringing = new Map<Result, Ended>();

  constructor(at: Place, store: Store) {
    this.at = at;
    this.listeners = new Listeners(at, WORKER_EVENTS);
    this.#store = store;
  }

  error(error: unknown): void {
    this.listeners.tell("error", { error: this.at.error(undefined, error) });
  }

  /** Messages whose last delivery lapsed. */
  died(died: readonly Died[]): void {
    for (const { member, deliveries: attempt } of died) {
      const id = idOf(member);
      const lapsed = new OrielError("LOST", `message ${id} was not acknowledged in its last delivery`);
      this.listeners.tell("stalled", { id, attempt });
      this.listeners.tell("dead", { id, attempt, error: this.at.error(undefined, lapsed) });
    }
  }

  /** Registers a result that is being sent. */
  expect(result: Result, ended: Ended): void {
    this.#bringing.set(result, ended);
  }

  /** A closed worker stops waiting for results; their outcome stays unknown. */
  giveUp(): void {
    for (const result of [...this.#bringing.keys()]) this.end(result, "stale", false);
  }

  /** Emits the event for the outcome of a result. */
  end(result: Result, fate: Fate, isAgain: boolean): void {
    const ended = this.#bringing.get(result);
    this.#bringing.delete(result);
    if (!ended) return;
    const { id, attempt } = ended.message;
    // It is unknown whether the retry was stored or the claim lapsed. The message is delivered again in both cases.
    const isSo = fate === "kept" || (isAgain && (fate === "before" || result.verb === "retry"));
    if (!isSo) {
      // Another worker then moves the corrupt bytes and emits the event.
      if (result.verb !== "corrupt") this.listeners.tell("lost", { id, attempt });
    } else if (result.verb === "done") {
      const durationMs = this.#store.leaseClock() - ended.startedAtMs;
      this.listeners.tell("completed", { id, attempt, durationMs });
    } else if (result.verb === "retry") this.listeners.tell("retry", { id, attempt, delayMs: result.delayMs });
    else if (result.verb !== "back") this.listeners.tell("dead", { id, attempt, error: ended.error });
  }
}
