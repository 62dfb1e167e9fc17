import { OrielError } from "../errors.ts";
import type { Place } from "../place.ts";
import { type Duration, durationMs } from "../time.ts";
import type { DecisionClient } from "./client/decision-client.ts";
import type { Fallback } from "./client/fallback.ts";
import { isStoreFailure } from "./client/store-failure.ts";
import { costOf, type TakeOptions } from "./options.ts";
import type { Policy } from "./policies.ts";
import { MODE, STATUS } from "./steps/request.ts";
import { newToken } from "./token.ts";

export interface ReserveOptions extends Pick<TakeOptions, "tag" | "policies"> {
  /** The most that it may cost, in permits. */
  cost: number;
  /** After which permits that were neither settled nor cancelled are free again. */
  lease: Duration;
}

/** What is reserved, and for how long. */
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
   * True where the store could not be asked, and `onStoreError` decided: "local", and it is settled within this process;
   * "allow", and nothing was set aside: to settle or cancel it charges nothing, and is false.
   */
  readonly degraded: boolean;
  readonly #place: Place;
  readonly #client: DecisionClient | undefined;
  readonly #terms: Terms;
  readonly #token: string;
  #settlings = 0;

  /** `client`: where it was reserved, undefined for nowhere. */
  private constructor(
    place: Place,
    client: DecisionClient | undefined,
    terms: Terms,
    token: string,
    degraded: boolean,
  ) {
    this.#place = place;
    this.cost = terms.cost;
    this.degraded = degraded;
    this.#client = client;
    this.#terms = terms;
    this.#token = token;
  }

  /** @internal Null where the permits are not there. One round trip; safe to repeat, and repeated, after a lost reply. */
  static async open(
    place: Place,
    client: DecisionClient,
    fallback: Fallback,
    keyPrefix: string,
    policies: readonly Policy[],
    { cost, lease }: ReserveOptions,
  ): Promise<Reservation | null> {
    const terms = { keyPrefix, policies, cost: costOf(cost), leaseMs: durationMs("lease", lease, 1, 2 ** 52) };
    try {
      return await Reservation.#at(place, client, terms, false);
    } catch (error) {
      const { onStoreError } = fallback;
      if (!isStoreFailure(error) || onStoreError === "throw") throw error;
      if (onStoreError === "deny") return null;
      if (onStoreError === "allow") return new Reservation(place, undefined, terms, newToken(), true);
      return Reservation.#at(place, fallback.local, { ...terms, policies: fallback.processSharesOf(policies) }, true);
    }
  }

  static async #at(place: Place, client: DecisionClient, terms: Terms, degraded: boolean): Promise<Reservation | null> {
    const { leaseMs, ...question } = terms;
    const token = newToken();
    const reply = await client.ask({ ...question, mode: MODE.reserve, amount: leaseMs, token, hasReservations: true });
    return reply.granted > 0 ? new Reservation(place, client, terms, token, degraded) : null;
  }

  /**
   * Charges what it did cost, more than was reserved included, and gives the rest back. Settled twice counts once: false
   * then, and where the lease was over for more than a minute; nothing is charged in either case. Rejects where the store
   * is out of reach, whatever `onStoreError` says: settle again then, or the permits are free after the lease, uncharged.
   */
  settle(cost: number): Promise<boolean> {
    return this.#place.run("settle", () => this.#settle(cost));
  }

  async #settle(cost: number): Promise<boolean> {
    const { keyPrefix, policies } = this.#terms;
    const client = this.#client;
    const question = {
      keyPrefix,
      policies,
      cost: costOf(cost),
      token: this.#token,
      mode: MODE.settle,
      hasReservations: true,
    };
    if (!client) return false;
    this.#settlings++;
    const asking = client.ask(question).catch((error: unknown) => {
      // A full server: what it costs was reserved before it was.
      if (error instanceof OrielError && error.code === "OVERLOADED" && error.applied === "no")
        return client.ask({ ...question, isFull: true });
      throw error;
    });
    const { status } = await asking.catch((error: unknown) => {
      this.#settlings--; // whoever settles again is told whether it was charged
      throw error;
    });
    if (status === STATUS.reservationsNeeded)
      throw new OrielError("CORRUPT", "the reservation's key was not asked for");
    // Nobody else knows the token: settled before, the first time, is this call sent again after a lost reply.
    return status === STATUS.decided || (status === STATUS.settled && this.#settlings === 1);
  }

  /** Gives all of it back; false where it was settled or cancelled before, or is over. */
  cancel(): Promise<boolean> {
    return this.#place.run("cancel", () => this.#settle(0));
  }
}
