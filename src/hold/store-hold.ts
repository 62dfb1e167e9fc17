import type { Clock } from "../time.ts";
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

  constructor(grant: Grant, fence: Fence, what: string) {
    this.fence = fence;
    this.leaseMs = grant.leaseMs;
    this.provenUntilMs = grant.provenUntilMs;
    this.leaseClock = grant.store.leaseClock;
    this.what = what;
    this.#grant = grant;
  }

  extend(leaseMs: number): Promise<boolean> {
    const { store, key, token, replicas } = this.#grant;
    return store.run(renew, key, { token, leaseMs }, replicas > 0 ? { replicas } : undefined);
  }

  release(): Promise<boolean> {
    return leaveHold(this.#grant);
  }
}
