import { acquire as acquireLock } from "../lock/steps/acquire.ts";
import { extend as extendLock } from "../lock/steps/extend.ts";
import { lockKeyOf } from "../lock/steps/keys.ts";
import { release as releaseLock } from "../lock/steps/release.ts";
import type { Store } from "../store/contract.ts";
import {
  type AcquireAnswer,
  acquire,
  extend,
  type PermitRequest,
  release,
  releasesOf,
  semaphoreKeyOf,
} from "./steps.ts";

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
      const answer = await store.run(acquireLock, key, { token, leaseMs, id: "" });
      return "fence" in answer ? { isHeld: true } : { isHeld: false, retryInMs: answer.retryInMs, busy: [] };
    },
    extend: (token, leaseMs) => store.run(extendLock, key, { token, leaseMs }),
    release: (token) => store.run(releaseLock, key, { token, id: "", isNext: false }),
    subscribe: undefined,
  };
}

export interface PermitsOfMember extends Pick<PermitRequest, "numbers" | "limit" | "isNumbered"> {
  /** Identifies the object whose callers wait. It ignores notices of its own releases. */
  waiter: string;
}

/** Permits of the semaphore of that name, with these numbers. */
export function permitMember(store: Store, name: string, { waiter, ...hold }: PermitsOfMember): Member {
  const key = semaphoreKeyOf(store, name);
  const { numbers } = hold;
  return {
    store,
    acquire: (token, leaseMs) => store.run(acquire, key, { token, leaseMs, ...hold }),
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
