import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { type Grant, giveBack, provenUntil } from "./grant.ts";
import type { HoldSteps } from "./steps/hold-steps.ts";
import { OUR_TOKENS } from "./steps/keys.ts";

export type Outcome = { grant: Grant } | { retryInMs: number } | { error: OrielError };

/**
 * One caller's attempts to acquire one lock. While an attempt without an answer may have succeeded, the next one uses the same
 * token, so it finds the hold as its own.
 */
export class Attempts {
  readonly #steps: HoldSteps;
  readonly #store: Store;
  readonly #key: string;
  readonly #leaseMs: number;
  readonly #id: string;
  #token = newToken();
  #mayHold = false;

  /** `id` identifies the process in the queue of the lock. It is "" if the caller does not wait. */
  constructor(steps: HoldSteps, store: Store, key: string, leaseMs: number, id: string) {
    this.#steps = steps;
    this.#store = store;
    this.#key = key;
    this.#leaseMs = leaseMs;
    this.#id = id;
  }

  /** Sends one request. Never rejects. Releases a hold whose lease may have ended before the reply. */
  async next(): Promise<Outcome> {
    const [steps, store, key, leaseMs, token] = [this.#steps, this.#store, this.#key, this.#leaseMs, this.#token];
    const provenUntilMs = provenUntil(store.leaseClock(), leaseMs);
    try {
      const answer = await store.run(steps.acquire, key, { token, leaseMs, id: this.#id });
      if ("retryInMs" in answer) {
        this.#mayHold = false;
        return answer;
      }
      if (store.leaseClock() < provenUntilMs)
        return { grant: { steps, store, key, token, fence: answer.fence, leaseMs, provenUntilMs } };
      this.#mayHold = true;
      this.giveUp();
      return { retryInMs: 1 };
    } catch (cause) {
      const error = cause instanceof OrielError ? cause : new OrielError("CORRUPT", "lock/acquire failed", { cause });
      this.#mayHold ||= error.applied === "unknown";
      return { error };
    }
  }

  /** Releases a hold that an attempt without an answer may have acquired. The next attempt has a new token. */
  giveUp(): void {
    const provenUntilMs = this.#store.leaseClock() + this.#leaseMs;
    if (this.#mayHold)
      giveBack({ steps: this.#steps, store: this.#store, key: this.#key, token: this.#token, provenUntilMs });
    this.#mayHold = false;
    this.#token = newToken();
  }
}

function newToken(): string {
  return OUR_TOKENS + crypto.randomUUID();
}
