import { OrielError } from "../errors.ts";
import type { Place } from "../place.ts";
import { type Duration, durationMs } from "../time.ts";
import type { Asker } from "./client/asker.ts";
import { isAway } from "./client/away.ts";
import type { Fallback } from "./client/fallback.ts";
import { costOf, type TakeOptions } from "./options.ts";
import type { Policy } from "./policies.ts";
import { MODE, STATUS } from "./steps/ask.ts";
import { newToken } from "./token.ts";

export interface ReserveOptions extends Pick<TakeOptions, "tag" | "policies"> {
  /** The most that it may cost, in permits. */
  cost: number;
  /** After which permits that were neither settled nor cancelled are free again. */
  lease: Duration;
}

/** What is reserved, and for how long. */
interface Terms {
  base: string;
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
  readonly #asker: Asker | undefined;
  readonly #terms: Terms;
  readonly #token: string;
  #settlings = 0;

  /** `asker`: where it was reserved, undefined for nowhere. */
  private constructor(place: Place, asker: Asker | undefined, terms: Terms, token: string, degraded: boolean) {
    this.#place = place;
    this.cost = terms.cost;
    this.degraded = degraded;
    this.#asker = asker;
    this.#terms = terms;
    this.#token = token;
  }

  /** @internal Null where the permits are not there. One round trip; safe to repeat, and repeated, after a lost reply. */
  static async open(
    place: Place,
    asker: Asker,
    fallback: Fallback,
    base: string,
    policies: readonly Policy[],
    { cost, lease }: ReserveOptions,
  ): Promise<Reservation | null> {
    const terms = { base, policies, cost: costOf(cost), leaseMs: durationMs("lease", lease, 1, 2 ** 52) };
    try {
      return await Reservation.#at(place, asker, terms, false);
    } catch (error) {
      const { onStoreError } = fallback;
      if (!isAway(error) || onStoreError === "throw") throw error;
      if (onStoreError === "deny") return null;
      if (onStoreError === "allow") return new Reservation(place, undefined, terms, newToken(), true);
      return Reservation.#at(place, fallback.local, { ...terms, policies: fallback.sharesOf(policies) }, true);
    }
  }

  static async #at(place: Place, asker: Asker, terms: Terms, degraded: boolean): Promise<Reservation | null> {
    const { leaseMs, ...question } = terms;
    const token = newToken();
    const reply = await asker.ask({ ...question, mode: MODE.reserve, amount: leaseMs, token, hasHolds: true });
    return reply.granted > 0 ? new Reservation(place, asker, terms, token, degraded) : null;
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
    const { base, policies } = this.#terms;
    const asker = this.#asker;
    const question = { base, policies, cost: costOf(cost), token: this.#token, mode: MODE.settle, hasHolds: true };
    if (!asker) return false;
    this.#settlings++;
    const asking = asker.ask(question).catch((error: unknown) => {
      // A full server: what it costs was reserved before it was.
      if (error instanceof OrielError && error.code === "OVERLOADED" && error.applied === "no")
        return asker.ask({ ...question, isFull: true });
      throw error;
    });
    const { status } = await asking.catch((error: unknown) => {
      this.#settlings--; // whoever settles again is told whether it was charged
      throw error;
    });
    if (status === STATUS.holdsNeeded) throw new OrielError("CORRUPT", "the reservation's key was not asked for");
    // Nobody else knows the token: settled before, the first time, is this call sent again after a lost reply.
    return status === STATUS.decided || (status === STATUS.settled && this.#settlings === 1);
  }

  /** Gives all of it back; false where it was settled or cancelled before, or is over. */
  cancel(): Promise<boolean> {
    return this.#place.run("cancel", () => this.#settle(0));
  }
}
