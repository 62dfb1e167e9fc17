import { idleTimeout } from "../../async/timers.ts";
import type { OrielError } from "../../errors.ts";

/** What no call rejects with: so many events were not recorded, or may not be, and why. */
export interface StoreFailure {
  error: OrielError;
  count: number;
}

const QUIET_MS = 60_000;
/** By less than that a timer may fire too early. */
const EARLY_MS = 10;

/**
 * Warns of failures that nobody listens for: of the first at once, then at most once a minute, with how many events were
 * concerned meanwhile. By `process.emitWarning`, where there is no process by `console.warn`.
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
    // Tells what comes meanwhile and is followed by nothing. In Workers it dies with its request: the next failure tells.
    idleTimeout(() => this.#warnUnlessQuiet(), QUIET_MS);
    warn(`${events} ${doubt}not recorded: ${error.message}`, error.code);
  }
}

/** What `report` of a store does: tells who listens, and warns where nobody does. `tell`: whether anybody listened. */
export function failureReports(
  tell: (failure: StoreFailure) => boolean = () => false,
): (failure: StoreFailure) => void {
  const warnings = new FailureWarnings();
  return (failure) => {
    if (!tell(failure)) warnings.add(failure);
  };
}

type Emit = (warning: string, options: { type: string; code: string }) => void;

function warn(text: string, code: string): void {
  const { process } = globalThis as { process?: { emitWarning?: Emit } };
  if (typeof process?.emitWarning === "function") process.emitWarning(text, { type: "OrielWarning", code });
  else console.warn(`OrielWarning: ${text}`);
}
