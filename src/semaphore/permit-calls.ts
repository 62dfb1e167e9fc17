import { argumentError, OrielError } from "../errors.ts";
import { HeldLock } from "../hold/held.ts";
import { whileHeld } from "../hold/lock-calls.ts";
import { checkOptions, leaseMsOf, waitMsOf } from "../hold/lock-options.ts";
import { StoreHold } from "../hold/store-hold.ts";
import { takeHold, type WaitRequest } from "../hold/waiters.ts";
import type { Place } from "../place.ts";
import { register } from "../registry/register.ts";
import type { Store } from "../store/contract.ts";
import type { Duration } from "../time.ts";
import { type Member, permitMember } from "./member.ts";
import { type Attempt, type Held, MemberHold } from "./member-hold.ts";
import { Numbers } from "./numbers.ts";
import { permitsOf, type SemaphoreOptions, semaphoreSettings } from "./options.ts";
import { semaphoreKeyOf } from "./permits-in-use.ts";
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
  readonly #replicas: number;
  readonly #library: Library;
  /** Undefined on one store. */
  readonly #turns: Turns | undefined;
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
    const { limit, watchdogLeaseMs, replicas } = this.#at.checked(undefined, () =>
      semaphoreSettings(options, this.#stores.length),
    );
    this.limit = limit;
    this.#watchdogLeaseMs = watchdogLeaseMs;
    this.#replicas = replicas;
    for (const each of this.#stores) register(each, structure, name, this, { limit }, { servers: this.#stores.length });
    this.#library = library;
    if (this.#stores.length > 1)
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
    const [store] = this.#stores as [Store];
    const hold =
      this.#turns === undefined
        ? await this.#holdOfOne(store, permits, request)
        : await this.#turns.hold(request, () => this.#numberedAttempt(permits, leaseMs));
    return hold && new HeldLock(hold, isWatched, this.#at);
  }

  async #holdOfOne(store: Store, permits: number, request: Pick<WaitRequest, "leaseMs" | "waitMs" | "signal">) {
    const key = semaphoreKeyOf(store, this.#name);
    const grant = await takeHold(store, key, { ...request, permits, limit: this.limit, replicas: this.#replicas });
    return grant && new StoreHold(grant, null, this.#whatOf(permits));
  }

  #whatOf(permits: number): string {
    return `the hold of ${permits} of ${this.limit} permits`;
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
      what: this.#whatOf(numbers.length),
      members: this.#membersFor(numbers),
      library: (...call) => this.#library(numbers.length, ...call),
      onReleased: () => this.#turns?.notify(),
    };
  }

  #membersFor(numbers: readonly number[]): readonly Member[] {
    return this.#stores.map((store) => permitMember(store, this.#name, numbers, this.#waiter));
  }
}
