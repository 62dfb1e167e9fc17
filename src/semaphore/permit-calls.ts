import { argumentError, OrielError } from "../errors.ts";
import { HeldLock } from "../lock/held.ts";
import { whileHeld } from "../lock/lock-calls.ts";
import { checkOptions, leaseMsOf, waitMsOf } from "../lock/lock-options.ts";
import type { Place } from "../place.ts";
import { register } from "../registry/register.ts";
import type { Store } from "../store/contract.ts";
import type { Duration } from "../time.ts";
import { type Member, permitMember } from "./member.ts";
import { type Attempt, type Held, MemberHold } from "./member-hold.ts";
import { Numbers } from "./numbers.ts";
import { permitsOf, type SemaphoreOptions, semaphoreSettings } from "./options.ts";
import { placeOfStores } from "./stores.ts";
import { Turns } from "./turns.ts";

/** Options of `tryAcquire` of a semaphore. */
export interface TryAcquireOptions {
  /** Longest time of the hold, 10 to 2147483647 ms. Default: a watchdog renews it until it is released. */
  lease?: Duration | undefined;
  /** Ends the wait. The call rejects with its reason. */
  signal?: AbortSignal | undefined;
}

/** Options of `acquire` of a semaphore, which waits for permits. */
export interface AcquireOptions extends TryAcquireOptions {
  /** How long to wait, at most 2147483647 ms. Default 10 s. */
  wait?: Duration | undefined;
}

/** A hold of one or more permits of a semaphore. Its `fence` is null, because several holders work at once. */
export type Permit = HeldLock<null>;

/** One call of redis-semaphore for a hold of `permits` permits. */
type Library = (permits: number, ...call: Parameters<Held["library"]>) => ReturnType<Held["library"]>;

const DEFAULT_WAIT = "10s";
/** Of one attempt to get permits of several servers. */
const MAX_GUESSES = 3;

/** The calls of a semaphore on one store, or on several that decide by majority. */
export class PermitCalls {
  readonly limit: number;
  readonly #at: Place;
  readonly #stores: readonly Store[];
  readonly #name: string;
  readonly #watchdogLeaseMs: number;
  readonly #library: Library;
  readonly #turns: Turns;
  readonly #waiter = crypto.randomUUID();

  constructor(
    structure: "Semaphore" | "MultiSemaphore",
    store: Store | readonly Store[],
    name: string,
    options: SemaphoreOptions,
    library: Library,
  ) {
    this.#stores = Array.isArray(store) ? store : [store as Store];
    this.#name = name;
    this.#at = placeOfStores(structure, this.#stores, name, 1);
    const { limit, watchdogLeaseMs } = this.#at.checked(undefined, () =>
      semaphoreSettings(options, this.#stores.length),
    );
    this.limit = limit;
    this.#watchdogLeaseMs = watchdogLeaseMs;
    for (const each of this.#stores) register(each, structure, name, this, { limit }, { servers: this.#stores.length });
    this.#library = library;
    this.#turns = new Turns(this.#membersFor([0]), limit === 1, structure === "MultiSemaphore");
  }

  tryAcquire(permits: number, options: TryAcquireOptions): Promise<Permit | null> {
    return this.#at.run("tryAcquire", () => {
      checkOptions(options, ["lease", "signal"]);
      return this.#hold(permitsOf(permits, this.limit), options, 0);
    });
  }

  acquire(permits: number, options: AcquireOptions): Promise<Permit> {
    return this.#at.run("acquire", () => this.#acquire(permits, options));
  }

  async with<T>(
    operation: string,
    permits: number,
    fn: (permit: Permit) => T | Promise<T>,
    options: AcquireOptions,
  ): Promise<T> {
    const permit = await this.#at.run(operation, () => {
      if (typeof fn !== "function") throw argumentError("fn", fn, "a function");
      return this.#acquire(permits, options);
    });
    return whileHeld(permit, fn, this.#at, operation);
  }

  async #acquire(permits: number, options: AcquireOptions): Promise<Permit> {
    checkOptions(options, ["wait", "lease", "signal"]);
    const waitMs = waitMsOf(options.wait ?? DEFAULT_WAIT);
    const permit = await this.#hold(permitsOf(permits, this.limit), options, waitMs);
    if (permit) return permit;
    const free = permits === 1 ? "no permit was" : `no ${permits} permits were`;
    const text = `${free} free within ${waitMs} ms (limit ${this.limit})`;
    throw new OrielError("DEADLINE", text, { transient: true, applied: "no" });
  }

  async #hold(permits: number, { lease, signal }: TryAcquireOptions, waitMs: number): Promise<Permit | null> {
    const isWatched = lease === undefined;
    const leaseMs = isWatched ? this.#watchdogLeaseMs : leaseMsOf("lease", lease);
    signal?.throwIfAborted();
    const request = { leaseMs, waitMs, signal, isWatched };
    const attempt = this.#stores.length === 1 ? this.#attempt : this.#numberedAttempt;
    const hold = await this.#turns.hold(request, () => attempt.call(this, permits, leaseMs));
    return hold && new HeldLock(hold, isWatched, this.#at);
  }

  #attempt(permits: number, leaseMs: number): Promise<Attempt> {
    const numbers = Array.from({ length: permits }, (_, number) => number);
    return MemberHold.acquire(this.#heldOf(numbers), leaseMs);
  }

  /** The first choice of numbers is a guess. The refusals name those in use. */
  async #numberedAttempt(permits: number, leaseMs: number): Promise<Attempt> {
    const choice = new Numbers(this.limit, this.#stores.length);
    for (let guesses = 1; ; guesses++) {
      const outcome = await MemberHold.acquire(this.#heldOf(choice.choose(permits)!), leaseMs);
      if (!("refusals" in outcome) || guesses === MAX_GUESSES) return outcome;
      choice.learn(outcome.refusals);
      if (!choice.choose(permits)) return outcome;
    }
  }

  #heldOf(numbers: readonly number[]): Held {
    return {
      what: `the hold of ${numbers.length} of ${this.limit} permits`,
      members: this.#membersFor(numbers),
      library: (...call) => this.#library(numbers.length, ...call),
      onReleased: () => this.#turns.notify(),
    };
  }

  #membersFor(numbers: readonly number[]): readonly Member[] {
    const hold = { numbers, limit: this.limit, isNumbered: this.#stores.length > 1, waiter: this.#waiter };
    return this.#stores.map((store) => permitMember(store, this.#name, hold));
  }
}
