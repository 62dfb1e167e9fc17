import { OrielError } from "../../base/errors.ts";
import type { Site } from "../../base/site.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import { MODE, STATUS } from "../../generated/layouts/limiter.ts";
import type { DecisionClient, Fallback } from "./client/decision-client.ts";
import { costOf } from "./cost.ts";
import type { TakeOptions } from "./options.ts";
import type { Policy } from "./policies.ts";
import { newToken } from "./token.ts";

/** Options of `Limiter.reserve`, which takes permits before their final number is certain. */
export interface ReserveOptions extends Pick<TakeOptions, "tag" | "policies"> {
  /** Largest cost, in permits. */
  cost: number;
  /** Time after which the permits are free again without `settle` or `cancel`. */
  lease: Duration;
}

/** The reserved permits and their lease. */
interface Terms {
  keyPrefix: string;
  policies: readonly Policy[];
  cost: number;
  leaseMs: number;
}

/** Permits set aside until the cost is known. */
export class Reservation {
  readonly cost: number;
  /**
   * True if the store was unreachable and `onStoreError` decided. Under `localDecisions()` it is settled within this process. Under
   * "allow" nothing is reserved; `settle` and `cancel` charge nothing and resolve with false.
   */
  readonly degraded: boolean;
  readonly #site: Site;
  readonly #client: DecisionClient | undefined;
  readonly #terms: Terms;
  readonly #token: string;
  #settlings = 0;

  /** `client`: undefined if nothing is reserved. */
  private constructor(site: Site, client: DecisionClient | undefined, terms: Terms, token: string, degraded: boolean) {
    this.#site = site;
    this.cost = terms.cost;
    this.degraded = degraded;
    this.#client = client;
    this.#terms = terms;
    this.#token = token;
  }

  /** @internal Null if the permits are not free. One round trip, repeated after a lost reply. */
  static async open(
    site: Site,
    client: DecisionClient,
    fallback: Fallback,
    keyPrefix: string,
    policies: readonly Policy[],
    { cost, lease }: ReserveOptions,
  ): Promise<Reservation | null> {
    const terms = { keyPrefix, policies, cost: costOf(cost), leaseMs: durationMs("lease", lease, 1, 2 ** 52) };
    try {
      return await Reservation.#at(site, client, terms, false);
    } catch (error) {
      const { onStoreError } = fallback;
      if (!fallback.decidesAfter(error) || onStoreError === "throw") throw error;
      if (onStoreError === "deny") return null;
      if (onStoreError === "allow") return new Reservation(site, undefined, terms, newToken(), true);
      const shares = { ...terms, policies: fallback.share!.of(policies) };
      return Reservation.#at(site, fallback.clientOf(onStoreError), shares, true);
    }
  }

  static async #at(site: Site, client: DecisionClient, terms: Terms, degraded: boolean): Promise<Reservation | null> {
    const { leaseMs, ...request } = terms;
    const token = newToken();
    const reply = await client.ask({ ...request, mode: MODE.reserve, amount: leaseMs, token, hasReservations: true });
    return reply.granted > 0 ? new Reservation(site, client, terms, token, degraded) : null;
  }

  /**
   * Charges the actual cost, even if it is larger than the reserved one, and frees the rest. Resolves with false, and charges
   * nothing, if it was settled before or its lease ended more than a minute ago. Rejects if the store is unreachable, whatever
   * `onStoreError` says. Then settle again; otherwise the permits are free after the lease, uncharged.
   */
  settle(cost: number): Promise<boolean> {
    return this.#site.run("settle", () => this.#settle(cost));
  }

  async #settle(cost: number): Promise<boolean> {
    const { keyPrefix, policies } = this.#terms;
    const client = this.#client;
    const request = {
      keyPrefix,
      policies,
      cost: costOf(cost),
      token: this.#token,
      mode: MODE.settle,
      hasReservations: true,
    };
    if (!client) return false;
    this.#settlings++;
    const asking = client.ask(request).catch((error: unknown) => {
      // A full server can still settle: the permits are reserved.
      if (error instanceof OrielError && error.code === "OVERLOADED" && error.applied === "no")
        return client.ask({ ...request, isFull: true });
      throw error;
    });
    const { status } = await asking.catch((error: unknown) => {
      this.#settlings--; // a further call reports whether it was charged
      throw error;
    });
    if (status === STATUS.reservationsNeeded)
      throw new OrielError("CORRUPT", "the step did not read the reservation's key");
    // The token is secret. "Settled before" on the first call means that this call was sent again after a lost reply.
    return status === STATUS.decided || (status === STATUS.settled && this.#settlings === 1);
  }

  /** Frees all permits. Resolves with false if it was settled or cancelled before, or has ended. */
  cancel(): Promise<boolean> {
    return this.#site.run("cancel", () => this.#settle(0));
  }
}
