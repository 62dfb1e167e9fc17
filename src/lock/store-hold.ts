import type { Clock } from "../time.ts";
import type { Grant, HoldSource } from "./grant.ts";
import { beginRelease, NO_NEXT } from "./wait-queue.ts";

/** A hold that one store keeps. */
export class StoreHold implements HoldSource {
  readonly fence: number;
  readonly leaseMs: number;
  readonly provenUntilMs: number;
  readonly leaseClock: Clock;
  readonly what: string;
  readonly #grant: Grant;

  constructor(grant: Grant) {
    this.fence = grant.fence;
    this.leaseMs = grant.leaseMs;
    this.provenUntilMs = grant.provenUntilMs;
    this.leaseClock = grant.store.leaseClock;
    this.what = `the lock ${grant.key}`;
    this.#grant = grant;
  }

  extend(leaseMs: number): Promise<boolean> {
    const { steps, store, key, token } = this.#grant;
    return store.run(steps.extend, key, { token, leaseMs });
  }

  release(): Promise<boolean> {
    const { steps, store, key, token } = this.#grant;
    const { id, isNext, sent } = steps.isShared ? NO_NEXT : beginRelease(store, key);
    const answer = store.run(steps.release, key, { token, id, isNext });
    sent();
    return answer;
  }
}
