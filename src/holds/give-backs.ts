import { idleTimeout } from "../base/async/timers.ts";
import type { OrielError } from "../base/errors.ts";
import type { Store } from "../store/contract.ts";

const RETRY_MS = 200;

/** A hold that a server should no longer have. */
interface Unwanted {
  /** When its lease ends, by the lease clock. */
  readonly untilMs: number;
  release(): Promise<unknown>;
}

const ofStores = new WeakMap<Store, GiveBacks>();

/** Releases a hold in the background. Retries while the server fails and the lease may last. */
export function giveBack(store: Store, hold: Unwanted): void {
  const giveBacks = ofStores.get(store) ?? new GiveBacks(store);
  ofStores.set(store, giveBacks);
  void giveBacks.send(hold);
}

/**
 * The releases that one server has yet to answer. While it fails, only one of them is sent again at a time: a caller that waits
 * may leave one with each attempt, many times a second.
 */
class GiveBacks {
  readonly #store: Store;
  readonly #failed = new Set<Unwanted>();
  #isRetrying = false;

  constructor(store: Store) {
    this.#store = store;
  }

  async send(hold: Unwanted): Promise<void> {
    if (this.#failed.size === 0 && (await isSettled(hold))) return;
    this.#failed.add(hold);
    this.#retryLater();
  }

  #retryLater(): void {
    if (this.#isRetrying || this.#failed.size === 0) return;
    this.#isRetrying = true;
    idleTimeout(() => void this.#retry(), RETRY_MS);
  }

  async #retry(): Promise<void> {
    const nowMs = this.#store.leaseClock();
    for (const hold of this.#failed) if (hold.untilMs <= nowMs) this.#failed.delete(hold);
    const [first] = this.#failed;
    if (first && (await isSettled(first))) {
      this.#failed.delete(first);
      const settle = async (hold: Unwanted) => (await isSettled(hold)) && this.#failed.delete(hold);
      await Promise.all([...this.#failed].map(settle));
    }
    this.#isRetrying = false;
    this.#retryLater();
  }
}

/** False if a retry may help. */
async function isSettled(hold: Unwanted): Promise<boolean> {
  try {
    await hold.release();
    return true;
  } catch (error) {
    return !(error as OrielError).transient;
  }
}
