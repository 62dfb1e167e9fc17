import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { acquire } from "./acquire.ts";
import { type Grant, giveBack, provenUntil } from "./grant.ts";
import { OUR_TOKENS } from "./keys.ts";

export type Outcome = { grant: Grant } | { lookAgainMs: number } | { error: OrielError };

/**
 * One caller's attempts to get one lock, under one token for as long as an attempt may have been done without an
 * answer: the next one then finds the hold as its own.
 */
export class Attempts {
  readonly #store: Store;
  readonly #key: string;
  readonly #leaseMs: number;
  readonly #id: string;
  #token = newToken();
  #mayHold = false;

  /** `id` is the process's place among those who wait, "" where the caller does not wait. */
  constructor(store: Store, key: string, leaseMs: number, id: string) {
    this.#store = store;
    this.#key = key;
    this.#leaseMs = leaseMs;
    this.#id = id;
  }

  /** One request. Never rejects. A hold whose lease may be over when the reply comes is given back, not out. */
  async next(): Promise<Outcome> {
    const [store, key, leaseMs, token] = [this.#store, this.#key, this.#leaseMs, this.#token];
    const provenUntilMs = provenUntil(store.leaseClock(), leaseMs);
    try {
      const answer = await store.run(acquire, key, { token, leaseMs, id: this.#id });
      if ("lookAgainMs" in answer) {
        this.#mayHold = false;
        return answer;
      }
      if (store.leaseClock() < provenUntilMs)
        return { grant: { store, key, token, fence: answer.fence, leaseMs, provenUntilMs } };
      this.#mayHold = true;
      this.giveUp();
      return { lookAgainMs: 1 };
    } catch (cause) {
      const error = cause instanceof OrielError ? cause : new OrielError("CORRUPT", "lock/acquire failed", { cause });
      this.#mayHold ||= error.applied === "unknown";
      return { error };
    }
  }

  /** No further attempt is made with what may be held now. */
  giveUp(): void {
    const provenUntilMs = this.#store.leaseClock() + this.#leaseMs;
    if (this.#mayHold) giveBack({ store: this.#store, key: this.#key, token: this.#token, provenUntilMs });
    this.#mayHold = false;
    this.#token = newToken();
  }
}

function newToken(): string {
  return OUR_TOKENS + crypto.randomUUID();
}
