import { idleTimeout } from "../../base/async/timers.ts";
import type { OrielError } from "../../base/errors.ts";
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
