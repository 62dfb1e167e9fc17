import { idleTimeout } from "../../base/async/timers.ts";
import { OrielError } from "../../base/errors.ts";
import { warn } from "../../base/warn.ts";

/**
 * A failure that no call rejects with: the number of events that were not, or may not have been, recorded, and the
 * error.
 */
export interface StoreFailure {
  error: OrielError;
  count: number;
}

const QUIET_MS = 60_000;
/** A timer may fire earlier by less than this. */
const EARLY_MS = 10;

/**
 * Warns about failures without a listener: about the first at once, then at most once a minute, with the number of
 * events since. Uses `process.emitWarning`, or `console.warn` without a process.
 */
class FailureWarnings {
  #count = 0;
  #last: OrielError | undefined;
  #warnedAtMs = Number.NEGATIVE_INFINITY;

  add({ error, count }: StoreFailure): void {
    this.#count += count;
    this.#last = error;
    this.#warnUnlessQuiet();
  }

  #warnUnlessQuiet(): void {
    if (this.#last && performance.now() - this.#warnedAtMs > QUIET_MS - EARLY_MS) this.#warn();
  }

  #warn(): void {
    const error = this.#last!;
    const events = this.#count === 1 ? "1 event was" : `${this.#count} events were`;
    const doubt = error.applied === "unknown" ? "maybe " : "";
    this.#count = 0;
    this.#last = undefined;
    this.#warnedAtMs = performance.now();
    // Reports later failures if no other follows them. In Workers the timer ends with its request, and the next failure
    // reports.
    idleTimeout(() => this.#warnUnlessQuiet(), QUIET_MS);
    warn(`${events} ${doubt}not recorded: ${error.message}`, error.code);
  }
}

/** Returns the `report` of a store. It warns if `emit` returns false, because no listener exists. */
export function failureReports(
  emit: (failure: StoreFailure) => boolean = () => false,
): (failure: StoreFailure) => void {
  const warnings = new FailureWarnings();
  return (failure) => {
    if (!emit(failure)) warnings.add(failure);
  };
}

/** Failures that lie closer together than this are of one outage, although calls succeed between them. */
const SAME_OUTAGE_MS = 10_000;
const OF_STORE: ReadonlySet<string> = new Set(["DEADLINE", "UNAVAILABLE", "OVERLOADED"]);

/**
 * Says once for each outage that structures go on without their store: by a warning of the process and the store's event
 * "error", and by another warning when it ends. So no limit is open in silence.
 *
 *          the first structure goes on without its store
 *   whole ------------------------------------------------> without it
 *     ^                                                        |
 *     +--------------------------------------------------------+
 *        a call succeeds after the server was down, or 10 s after the last such decision
 */
export class WithoutStore {
  readonly #emit: (failure: StoreFailure) => unknown;
  /** Ms since 1970. Undefined while no structure goes on without the store. */
  #beganAtMs: number | undefined;
  /** Of the last call without the store, in ms of `performance.now`. */
  #lastAtMs = 0;
  #effect = "";

  constructor(emit: (failure: StoreFailure) => unknown) {
    this.#emit = emit;
  }

  /** `effect`: what the structure does meanwhile, as `Limiter "a" allows every call`. */
  goesOn(effect: string, error: unknown): void {
    const failure = error as OrielError;
    if (!OF_STORE.has(failure.code)) return;
    this.#lastAtMs = performance.now();
    if (this.#beganAtMs !== undefined) return;
    this.#beganAtMs = Date.now();
    this.#effect = effect;
    this.#emit({ error: failure, count: 0 });
    warn(`${effect}, because its store cannot be used: ${OrielError.detailOf(failure)}`, failure.code);
  }

  /** Called when a call succeeds. `upSinceMs`: when the server was last found to be up again, in ms since 1970. */
  succeeded(upSinceMs: number): void {
    if (this.#beganAtMs === undefined) return;
    if (upSinceMs < this.#beganAtMs && performance.now() - this.#lastAtMs < SAME_OUTAGE_MS) return;
    const seconds = Math.ceil((Date.now() - this.#beganAtMs) / 1000);
    this.#beganAtMs = undefined;
    warn(`a store can be used again after ${seconds} s, in which ${this.#effect}`);
  }
}
