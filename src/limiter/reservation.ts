import { OrielError } from "../errors.ts";
import { type Duration, durationMs } from "../time.ts";
import { MODE, STATUS } from "./ask.ts";
import type { Asker } from "./asker.ts";
import { costOf, type TakeOptions } from "./options.ts";
import type { Policy } from "./policies.ts";
import { newToken } from "./token.ts";

export interface ReserveOptions extends Pick<TakeOptions, "tag" | "policies"> {
  /** The most that it may cost, in permits. */
  cost: number;
  /** After which permits that were neither settled nor cancelled are free again. */
  lease: Duration;
}

/** Permits set aside until the cost is known. */
export class Reservation {
  readonly cost: number;
  readonly #asker: Asker;
  readonly #base: string;
  readonly #policies: readonly Policy[];
  readonly #token: string;
  #settlings = 0;

  private constructor(asker: Asker, base: string, policies: readonly Policy[], cost: number, token: string) {
    this.cost = cost;
    this.#asker = asker;
    this.#base = base;
    this.#policies = policies;
    this.#token = token;
  }

  /** Null where the permits are not there. One round trip; safe to repeat, and repeated, after a lost reply. */
  static async open(
    asker: Asker,
    base: string,
    policies: readonly Policy[],
    options: ReserveOptions,
  ): Promise<Reservation | null> {
    const cost = costOf(options.cost);
    const amount = durationMs("lease", options.lease, 1, 2 ** 52);
    const token = newToken();
    const reply = await asker.ask({ base, policies, cost, mode: MODE.reserve, amount, token, hasHolds: true });
    return reply.granted > 0 ? new Reservation(asker, base, policies, cost, token) : null;
  }

  /**
   * Charges what it did cost, more than was reserved included, and gives the rest back. Settled twice counts once: false
   * then, and where the lease was over for more than a minute; nothing is charged in either case.
   */
  async settle(cost: number): Promise<boolean> {
    const question = { base: this.#base, policies: this.#policies, cost: costOf(cost), token: this.#token };
    this.#settlings++;
    const { status } = await this.#asker.ask({ ...question, mode: MODE.settle, hasHolds: true });
    if (status === STATUS.holdsNeeded) throw new OrielError("CORRUPT", "the reservation's key was not asked for");
    // Nobody else knows the token: settled before, the first time, is this call sent again after a lost reply.
    return status === STATUS.decided || (status === STATUS.settled && this.#settlings === 1);
  }

  /** Gives all of it back; false where it was settled or cancelled before, or is over. */
  cancel(): Promise<boolean> {
    return this.settle(0);
  }
}
