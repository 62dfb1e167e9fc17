import { OrielError } from "../../base/errors.ts";
import { warn } from "../../base/warn.ts";
import type { StoreFailure } from "./failures.ts";

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
