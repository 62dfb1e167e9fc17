import { processOf } from "../hold/steps/state.ts";
import { leave, renew, take } from "../hold/steps/steps.ts";
import { lockKeyOf } from "../lock/lock-state.ts";
import type { Store } from "../store/contract.ts";
import { type AcquireAnswer, acquire, extend, numberedKeyOf, release, releasesOf } from "./steps.ts";

/** One of the servers that decide together, with the steps of one kind of hold on it. */
export interface Member {
  readonly store: Store;
  acquire(token: string, leaseMs: number): Promise<AcquireAnswer>;
  extend(token: string, leaseMs: number): Promise<boolean>;
  /** `isNotified`: waiters are woken, because the hold was one of the majority. */
  release(token: string, isNotified: boolean): Promise<boolean>;
  /** Calls `listener` when a hold of others may have ended. Undefined if the server publishes no releases. */
  readonly subscribe: ((listener: () => void) => () => void) | undefined;
}

/** The lock of that name, the same as `Lock`'s: each excludes the other on this server. */
export function lockMember(store: Store, name: string): Member {
  const key = lockKeyOf(store, name);
  return {
    store,
    async acquire(token, leaseMs) {
      const tickets = [{ token, permits: 1, limit: 1, leaseMs }];
      const request = { process: processOf(token), tickets, mayWait: false, isGuess: true };
      const { granted, nextMs } = await store.run(take, key, request);
      return granted.length > 0 ? { isHeld: true } : { isHeld: false, retryInMs: nextMs, busy: [] };
    },
    extend: (token, leaseMs) => store.run(renew, key, { token, leaseMs }),
    release: async (token) =>
      (await store.run(leave, key, { process: processOf(token), token, number: undefined })).isReleased,
    subscribe: undefined,
  };
}

/**
 * Permits of the semaphore of that name, with these numbers. `waiter` identifies the object whose callers wait. It ignores
 * notices of its own releases.
 */
export function permitMember(store: Store, name: string, numbers: readonly number[], waiter: string): Member {
  const key = numberedKeyOf(store, name);
  return {
    store,
    acquire: (token, leaseMs) => store.run(acquire, key, { token, leaseMs, numbers }),
    extend: (token, leaseMs) => store.run(extend, key, { token, leaseMs, numbers }),
    release: (token, isNotified) => store.run(release, key, { token, numbers, notice: isNotified ? waiter : "" }),
    get subscribe() {
      const { subscribe } = store;
      return (
        subscribe && ((listener: () => void) => subscribe(releasesOf(key), (notice) => notice !== waiter && listener()))
      );
    },
  };
}
