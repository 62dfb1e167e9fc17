import { Listeners } from "../../async/listeners.ts";
import { OrielError } from "../../errors.ts";
import type { Place } from "../../place.ts";
import type { Store } from "../../store/contract.ts";
import { idOf } from "../format/layout.ts";
import type { Died, Fate, Result } from "../steps/exchange.ts";
import type { ClaimedMessage } from "./claimed.ts";
import type { Held } from "./held.ts";
import { WORKER_EVENTS, type WorkerEvents } from "./worker-events.ts";

/** Whose result is under way. */
type Ended = Pick<Held<unknown>, "startedAtMs" | "error"> & { message: Pick<ClaimedMessage, "id" | "attempt"> };

/** Tells a worker's listeners what became of its messages. */
export class WorkerTells {
  readonly at: Place;
  readonly listeners: Listeners<WorkerEvents>;
  readonly #store: Store;
  /** Results under way. */
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

  /** The result is on its way. */
  expect(result: Result, ended: Ended): void {
    this.#bringing.set(result, ended);
  }

  /** A worker that is closed does not wait for them any more: what becomes of them nobody hears. */
  giveUp(): void {
    for (const result of [...this.#bringing.keys()]) this.end(result, "stale", false);
  }

  /** What became of the result. */
  end(result: Result, fate: Fate, isAgain: boolean): void {
    const ended = this.#bringing.get(result);
    this.#bringing.delete(result);
    if (!ended) return;
    const { id, attempt } = ended.message;
    // Whether a retry was brought before, or the message lapsed, nobody can tell: it comes again either way.
    const isSo = fate === "kept" || (isAgain && (fate === "before" || result.verb === "retry"));
    if (!isSo) {
      // Bytes that are no message are moved by another worker then, which tells it.
      if (result.verb !== "corrupt") this.listeners.tell("lost", { id, attempt });
    } else if (result.verb === "done") {
      const durationMs = this.#store.leaseClock() - ended.startedAtMs;
      this.listeners.tell("completed", { id, attempt, durationMs });
    } else if (result.verb === "retry") this.listeners.tell("retry", { id, attempt, delayMs: result.delayMs });
    else if (result.verb !== "back") this.listeners.tell("dead", { id, attempt, error: ended.error });
  }
}
