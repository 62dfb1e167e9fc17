import { setTimeout as pause } from "node:timers/promises";
import { Lock, OrielError } from "../../../src/entries/index.ts";
import { MultiSemaphore, Semaphore } from "../../../src/entries/structures/semaphore.ts";
import { type HeldLock, stopWatchdog } from "../../../src/holds/held.ts";
import type { Store } from "../../../src/store/contract.ts";

/** redis-semaphore's options, with its defaults. `retryInterval` matters only if the attempts are limited. */
export interface ShimOptions {
  lockTimeout?: number;
  acquireTimeout?: number;
  acquireAttemptsLimit?: number;
  retryInterval?: number;
  /** 0: the lease is not renewed. Otherwise oriel's watchdog renews it, after every third of it. */
  refreshInterval?: number;
  onLockLost?: (this: LibraryLock, error: unknown) => void;
}

type Hold = HeldLock<number | null>;

interface Asked {
  wait: number;
  lease?: number;
  signal?: AbortSignal | undefined;
}

/** A lock with redis-semaphore's methods, on one of oriel's. */
export class LibraryLock {
  readonly #options: Required<Omit<ShimOptions, "onLockLost">>;
  readonly #onLockLost: ShimOptions["onLockLost"];
  readonly #acquire: (asked: Asked) => Promise<Hold | null>;
  #held: Hold | undefined;

  constructor({ onLockLost, ...options }: ShimOptions, acquire: (asked: Asked) => Promise<Hold | null>) {
    this.#options = {
      lockTimeout: 10_000,
      acquireTimeout: 10_000,
      acquireAttemptsLimit: Number.POSITIVE_INFINITY,
      retryInterval: 10,
      refreshInterval: 1,
      ...options,
    };
    this.#onLockLost = onLockLost;
    this.#acquire = acquire;
  }

  get isAcquired(): boolean {
    return (this.#held?.leftMs ?? 0) > 0;
  }

  /** Rejects if the lock is not acquired in time. */
  async acquire(signal?: AbortSignal): Promise<void> {
    if (!(await this.tryAcquire(signal))) throw new OrielError("DEADLINE", "others held it", { transient: true });
  }

  async tryAcquire(signal?: AbortSignal): Promise<boolean> {
    const { lockTimeout, acquireTimeout, acquireAttemptsLimit, retryInterval, refreshInterval } = this.#options;
    const isLimited = acquireAttemptsLimit < Number.POSITIVE_INFINITY;
    const asked = {
      wait: isLimited ? 0 : acquireTimeout,
      signal,
      ...(refreshInterval === 0 && { lease: lockTimeout }),
    };
    for (let attempt = 1; ; attempt++) {
      const held = await this.#acquire(asked);
      if (held) return this.#isMine(held);
      if (!isLimited || attempt === acquireAttemptsLimit) return false;
      await pause(retryInterval);
    }
  }

  async release(): Promise<void> {
    await this.#held?.release();
  }

  /** True if the lock is still held. */
  async refresh(leaseMs = this.#options.lockTimeout): Promise<boolean> {
    return (await this.#held?.extend(leaseMs)) ?? false;
  }

  stopRefresh(): void {
    if (this.#held) stopWatchdog(this.#held);
  }

  #isMine(held: Hold): true {
    this.#held = held;
    const { signal } = held;
    if (this.#onLockLost) signal.addEventListener("abort", () => this.#onLockLost?.(signal.reason));
    return true;
  }
}

/** Null if others had the permits for all of the wait. */
function orNull(error: OrielError): null {
  if (error.code === "DEADLINE" && error.message.includes(" free within ")) return null;
  throw error;
}

const watchdog = ({ lockTimeout = 10_000 }: ShimOptions) => ({ watchdogLease: lockTimeout });

/** The library's classes. Each takes a store for a client. */
export const library = {
  mutex(store: Store, key: string, options: ShimOptions = {}): LibraryLock {
    const lock = new Lock(store, key, watchdog(options));
    return new LibraryLock(options, (asked) => lock.tryLock(asked));
  },
  semaphore(store: Store, key: string, limit: number, options: ShimOptions = {}): LibraryLock {
    const semaphore = new Semaphore(store, key, { limit, ...watchdog(options) });
    return new LibraryLock(options, (asked) => semaphore.acquire(asked).catch(orNull));
  },
  multiSemaphore(store: Store, key: string, limit: number, permits: number, options: ShimOptions = {}): LibraryLock {
    const semaphore = new MultiSemaphore(store, key, { limit, ...watchdog(options) });
    return new LibraryLock(options, (asked) => semaphore.acquire(permits, asked).catch(orNull));
  },
};
