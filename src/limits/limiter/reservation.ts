import { argumentError, OrielError } from "../../base/errors.ts";
import type { Site } from "../../base/site.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import { KIND, MODE, STATUS } from "../../generated/layouts/limiter.ts";
import type { Store } from "../../store/contract.ts";
import { decisionOf, fixedDecision } from "./client/decision-client.ts";
import {
  type Asking,
  askTogether,
  checkParts,
  costsOfParts,
  type Part,
  strictestOf,
  withShares,
} from "./client/together.ts";
import { type Cost, checkedCost, costsOf, isByPolicy, namesOf } from "./cost.ts";
import type { DecidedBy, Decision, PolicyDecision } from "./decision.ts";
import type { TakeOptions } from "./options.ts";
import { costAt, type Policy } from "./policies.ts";
import type { DecideReply } from "./steps/decide.ts";
import { newToken } from "./token.ts";

/** What becomes of a reservation that is neither settled nor cancelled when its lease ends. */
export type ReservationEnd = "free" | "charged";

/** Options of `Limiter.reserveAll`, beside the requests. */
export interface ReserveAllOptions {
  /** The slot of a cluster in which all keys lie, as for `takeAll`. */
  tag: string;
  /** Time after which the reservation ends without `settle` or `cancel`. `charge` begins it anew before that. */
  lease: Duration;
  /** At the end of the lease, what was not charged is "free" (default), or is "charged" as of that ms. */
  ends?: ReservationEnd | undefined;
  /** Rejects the call with its reason. A request that was sent may still reserve, until the lease ends. */
  signal?: AbortSignal | undefined;
}

/** Options of `Limiter.reserve`, which takes permits before their final number is certain. */
export interface ReserveOptions
  extends Pick<TakeOptions, "tag" | "policies" | "key" | "request">,
    Pick<ReserveAllOptions, "lease" | "ends" | "signal"> {
  /** The estimate: permits, or an object of them by policy. */
  cost: Cost;
}

/** Permits that a reservation has charged one policy. */
export interface PolicyCharge {
  /** As in the decision. */
  name: string;
  /** Permits charged so far. 0 for a concurrency policy. */
  charged: number;
  /** Of them, permits above the reserved ones. */
  overrun: number;
  /** Permits that are now taken above the limit. Later calls wait until they are paid off. */
  debt: number;
}

/** Permits that a reservation has charged, and how far its windows are above their limits. */
export interface Charge {
  /** In the order of the decision. */
  policies: readonly PolicyCharge[];
}

/** How a reservation is made. */
export interface Terms {
  /** With the names of the decision. */
  policies: readonly Policy[];
  /** Whether the costs of all requests are numbers. Then those of `charge` and `settle` may be. */
  isByNumber: boolean;
  leaseMs: number;
  isChargedAtEnd: boolean;
  signal: AbortSignal | undefined;
}

/** Where the permits are set aside, and under which token. */
interface Place {
  store: Store;
  parts: readonly Part[];
  token: string;
}

/** Returns the lease and the end. Throws ARGUMENT. */
export function reserveTermsOf({ lease, ends = "free", signal }: Pick<ReserveAllOptions, "lease" | "ends" | "signal">) {
  if (ends !== "free" && ends !== "charged") throw argumentError("ends", ends, '"free" or "charged"');
  return { leaseMs: durationMs("lease", lease, 1, 2 ** 52), isChargedAtEnd: ends === "charged", signal };
}

/**
 * The decision about a reservation and, if it is allowed, permits set aside until the cost is known. `charge` and `settle` take
 * totals, so a repeated or late copy of one counts once. A denied one has reserved nothing: `cancel` resolves with false, `charge`
 * and `settle` reject with ARGUMENT. In an outage under "allow" nothing is reserved: all three resolve with false.
 */
export class Reservation implements Decision {
  readonly allowed: boolean;
  /** Permits reserved under the named policy. 0 for a denial. */
  readonly granted: number;
  /** True if the store was unreachable and `onStoreError` decided. Under `localDecisions()` it is settled within this process. */
  readonly degraded: boolean;
  declare readonly degradedBy?: DecidedBy;
  declare readonly share?: number;
  readonly policy: string;
  readonly limit: number;
  readonly remaining: number;
  readonly retryAfterMs: number;
  readonly resetAfterMs: number;
  readonly policies: readonly PolicyDecision[];
  readonly #site: Site;
  readonly #terms: Terms;
  readonly #place: Place | undefined;
  #settlings = 0;

  /** `place`: undefined if nothing is reserved. */
  private constructor(site: Site, terms: Terms, place: Place | undefined, decision: Decision) {
    this.#site = site;
    this.#terms = terms;
    this.#place = place;
    this.allowed = decision.allowed;
    this.granted = decision.granted;
    this.degraded = decision.degraded;
    if (decision.degradedBy) this.degradedBy = decision.degradedBy;
    if (decision.share !== undefined) this.share = decision.share;
    this.policy = decision.policy;
    this.limit = decision.limit;
    this.remaining = decision.remaining;
    this.retryAfterMs = decision.retryAfterMs;
    this.resetAfterMs = decision.resetAfterMs;
    this.policies = decision.policies;
  }

  /** @internal One round trip, repeated after a lost reply. */
  static async open(site: Site, parts: readonly Part[], terms: Terms): Promise<Reservation> {
    checkParts(parts);
    const place = { store: parts[0]!.store, parts, token: newToken() };
    try {
      return await Reservation.#at(site, terms, place, (decision) => decision);
    } catch (error) {
      const [strictest, decider] = strictestOf(parts);
      if (!decider.fallback.decidesAfter(error) || strictest === "throw") throw error;
      if (typeof strictest === "string") {
        const decision = fixedDecision(terms.policies, costsOfParts(parts), strictest);
        return new Reservation(site, terms, undefined, decision);
      }
      const local = { store: strictest.storeFor(place.store), parts: withShares(parts), token: newToken() };
      return Reservation.#at(site, terms, local, (decision) => decider.fallback.share!.marked(decision));
    }
  }

  static async #at(site: Site, terms: Terms, place: Place, marked: (decision: Decision) => Decision) {
    const { leaseMs: amount, isChargedAtEnd, signal } = terms;
    const costs = costsOfParts(place.parts);
    const reply = await ask(place, costs, { mode: MODE.reserve, amount, isChargedAtEnd, signal });
    // Shares have other limits.
    const limited = place.parts.flatMap(({ policies }) => policies);
    const policies = limited.map((policy, i) => ({ ...policy, name: terms.policies[i]!.name }));
    const decision = marked(decisionOf(reply, policies, costs, 0));
    return new Reservation(site, { ...terms, policies }, decision.allowed ? place : undefined, decision);
  }

  /**
   * Charges the cost so far, in total, to the windows of this moment. As much less is set aside, and the lease begins anew, unless it
   * has ended. A policy that is left out, or that was charged more before, is not charged. Permits above the reserved ones are charged
   * too. Resolves with false if the reservation was settled or cancelled, or its lease ended more than a minute ago. Rejects if the store
   * is unreachable.
   */
  charge(costSoFar: Cost): Promise<Charge | false> {
    return this.#site.run("charge", async () => {
      const costs = this.#costsOf(costSoFar, () => 0);
      if (!this.#place) return false;
      const charged = await this.#charge(this.#place, costs, { mode: MODE.charge, amount: this.#terms.leaseMs });
      return charged.status === STATUS.decided && this.#chargeOf(charged);
    });
  }

  /**
   * Charges the final cost, even above the reserved one, less what was charged before, and frees the rest. A policy that is left out
   * costs what was reserved. Resolves with false, and charges nothing, if it was settled before or its lease ended more than a minute
   * ago. Rejects if the store is unreachable, whatever `onStoreError` says. Then settle again; otherwise the lease ends as `ends` says.
   */
  settle(finalCost: Cost): Promise<Charge | false> {
    return this.#site.run("settle", async () => {
      const reserved = this.#place && costsOfParts(this.#place.parts);
      return this.#settle(this.#costsOf(finalCost, (i) => reserved?.[i] ?? 0));
    });
  }

  /** Frees all permits that were not charged. Resolves with false if it was settled or cancelled before, or has ended, or was denied. */
  cancel(): Promise<boolean> {
    return this.#site.run("cancel", async () => (await this.#settle(this.#terms.policies.map(() => 0))) !== false);
  }

  async #settle(costs: readonly number[]): Promise<Charge | false> {
    if (!this.#place) return false;
    this.#settlings++;
    const settled = await this.#charge(this.#place, costs, { mode: MODE.settle }).catch((error: unknown) => {
      this.#settlings--; // a further call reports whether it was charged
      throw error;
    });
    // The token is secret. "Settled before" on the first call means that this call was sent again after a lost reply.
    const isDone = settled.status === STATUS.decided || (settled.status === STATUS.settled && this.#settlings === 1);
    return isDone && this.#chargeOf(settled);
  }

  async #charge(place: Place, costs: readonly number[], asking: Pick<Asking, "mode" | "amount">): Promise<DecideReply> {
    const reply = await ask(place, costs, asking).catch((error: unknown) => {
      // A full server can still charge: the permits are reserved.
      if (error instanceof OrielError && error.code === "OVERLOADED" && error.applied === "no")
        return ask(place, costs, { ...asking, isFull: true });
      throw error;
    });
    if (reply.status === STATUS.reservationsNeeded)
      throw new OrielError("CORRUPT", "the step did not read the reservation's key");
    return reply;
  }

  /** The permits of each policy. Throws ARGUMENT for a wrong cost, and if the reservation was denied. */
  #costsOf(cost: Cost, absent: (i: number) => number): number[] {
    const { policies, isByNumber } = this.#terms;
    const given = checkedCost(cost);
    if (!this.allowed)
      throw new OrielError(
        "ARGUMENT",
        `nothing is reserved, because ${this.policy} denied it; look at \`allowed\` first`,
      );
    if (!isByPolicy(given) && !isByNumber)
      throw argumentError("cost", given, "an object of permits by policy, as those that are reserved");
    const costs = costsOf(given, namesOf(policies), absent);
    return policies.map((_, i) => costAt(costs, i));
  }

  #chargeOf({ policies: replies }: DecideReply): Charge {
    const { policies } = this.#terms;
    const reserved = costsOfParts(this.#place!.parts);
    const charges = policies.map(({ name, kind, limit, spanMs }, i) => {
      const { passes: charged, used } = replies[i]!;
      const overrun = Math.max(0, charged - reserved[i]!);
      const debt = Math.max(0, kind === KIND.leaky ? Math.ceil((used - limit * spanMs) / spanMs) : used - limit);
      return { name, charged, overrun, debt };
    });
    return { policies: charges };
  }
}

function ask(
  { store, parts, token }: Place,
  costs: readonly number[],
  asking: Omit<Asking, "token" | "hasReservations">,
): Promise<DecideReply> {
  return askTogether(store, parts, costs, { ...asking, token, hasReservations: true });
}
