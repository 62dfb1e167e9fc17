import type { Clock } from "../base/time.ts";
import { giveBack } from "./give-backs.ts";
import type { HoldSource } from "./hold-source.ts";
import { renew } from "./steps/steps.ts";
import { type Grant, leaveHold } from "./waiters.ts";

/** A hold that one store keeps. `fence` is its number, or null if several hold the name at once. */
export class StoreHold<Fence extends number | null = number> implements HoldSource<Fence> {
  readonly fence: Fence;
  readonly leaseMs: number;
  readonly provenUntilMs: number;
  readonly leaseClock: Clock;
  readonly what: string;
  readonly #grant: Grant;
  #longestLeaseMs: number;

  constructor(grant: Grant, fence: Fence, what: string) {
    this.fence = fence;
    this.leaseMs = grant.leaseMs;
    this.provenUntilMs = grant.provenUntilMs;
    this.leaseClock = grant.store.leaseClock;
    this.what = what;
    this.#grant = grant;
    this.#longestLeaseMs = grant.leaseMs;
  }

  extend(leaseMs: number): Promise<boolean> {
    const { store, key, token, replicas } = this.#grant;
    this.#longestLeaseMs = Math.max(this.#longestLeaseMs, leaseMs);
    return store.run(renew, key, { token, leaseMs }, replicas > 0 ? { replicas } : undefined);
  }

  /** If the store fails, the release is sent again in the background. */
  async release(): Promise<boolean> {
    try {
      return await leaveHold(this.#grant);
    } catch (error) {
      const untilMs = this.leaseClock() + this.#longestLeaseMs;
      giveBack(this.#grant.store, { untilMs, release: () => leaveHold(this.#grant) });
      throw error;
    }
  }
}
