import { abortable } from "../../base/async/aborts.ts";
import { ofThisCopy } from "../../base/copies.ts";
import { argumentError, checkKnown } from "../../base/errors.ts";
import { settingsOf } from "../../base/options.ts";
import { Site, siteOf } from "../../base/site.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import { MODE } from "../../generated/layouts/limiter.ts";
import type { Store } from "../../store/contract.ts";
import { tap } from "../../store/registry/live.ts";
import { register } from "../../store/registry/register.ts";
import { DecisionClient, Fallback, TakeCoalescer } from "./client/decision-client.ts";
import { Leases } from "./client/leases.ts";
import { isStoreFailure, passes, withApplied } from "./client/store-failure.ts";
import { policiesOf } from "./client/together.ts";
import { FairWaiters } from "./client/turns.ts";
import { type Cost, checkedCost, costOf, costsOf, namesOf } from "./cost.ts";
import type { Decision } from "./decision.ts";
import {
  type AcquireOptions,
  atLeastOf,
  checkCall,
  checkPermit,
  LIMITER,
  type LimiterOptions,
  type LimiterSettings,
  type TakeOptions,
  waitMsOf,
} from "./options.ts";
import { hasConcurrency, type Policy, turnsOf } from "./policies.ts";
import { checkOverride, checkPolicies, PoliciesById, type PoliciesOf } from "./policies-by-id.ts";
import { Reservation, type ReserveAllOptions, type ReserveOptions, reserveTermsOf } from "./reservation.ts";
import { keyPrefixOf, turnKeyOf } from "./steps/decide.ts";
import { checkTakeAll, siteOfParts, type TakePart, type TakeRequestOf, takeAll } from "./take-all.ts";
import { newToken, requestToken } from "./token.ts";

/** One request of `Limiter.takeAll` and `Limiter.reserveAll`: a limiter, an id, and a cost, which may be by policy. */
export type TakeRequest = TakeRequestOf<Limiter>;
/** The counts of an id that a call concerns: those of a tag, or of other policies. */
export type TargetOptions = Pick<TakeOptions, "tag" | "policies">;

type CallOptions = Pick<TakeOptions, "tag" | "policies" | "key" | "request" | "signal">;

/** The counts that a call concerns. */
interface Target {
  keyPrefix: string;
  policies: readonly Policy[];
}

const NO_NAME = new Site("Limiter");
const PEEK_OPTIONS = ["cost", "tag", "policies", "key", "request", "signal"];
const RESERVE_OPTIONS = [...PEEK_OPTIONS, "lease", "ends"];
const RESERVE_ALL_OPTIONS = ["tag", "lease", "ends", "signal"];
const TAKE_OPTIONS = [...PEEK_OPTIONS, "atLeast", "requestId"];

/** Learns of the decisions of a limiter. */
interface DecisionListener {
  /** `hasDecided` is false for a limiter of a `takeAll` if the policy of another one has decided. */
  decided(decision: Decision, hasDecided: boolean, id: string): void;
  reserved?(isAllowed: boolean): void;
  /** A call rejected. */
  failed?(): void;
}

/**
 * Limits calls by one or several policies, shared by all processes on one store. One round trip asks all policies. The
 * call passes all of them or changes nothing. A denial is a result: it names the policy and when the call would pass.
 *
 * A call whose answer is lost may have been counted. It is sent again only with a `requestId`; else it rejects with
 * `applied` "unknown". For calls that ask for permits (`take`, `peek`, `acquire`, `reserve`, `takeAll`, `reserveAll`) `onStoreError` may
 * decide instead. Calls that change a state (`penalty`, `reward`, `block`, `reset`, `release`, `charge`, `settle`) always reject with
 * DEADLINE or UNAVAILABLE, after at most two deadlines. Equal calls of a turn on one id share a step, and all ids share a
 * script call. Time is the store's. Every key expires when it no longer matters.
 *
 * On a full server, calls that take permits are OVERLOADED; calls that free or read work. A key with foreign bytes is CORRUPT,
 * whatever `onStoreError` says. It lets no call of its id pass until `reset`.
 */
export class Limiter {
  readonly name: string;
  // Without code: a class with a computed name stays in bundles that do not use it.
  /** @internal Exporters and histories listen here. */
  declare readonly [tap]: (listener: DecisionListener) => void;
  /** @internal A middleware lets a request pass after this failure of the store. The process is warned once an outage. */
  declare readonly [passes]: (error: unknown) => void;
  readonly #at: Site;
  readonly #failedToTake: (error: unknown) => never;
  readonly #store: Store;
  readonly #policiesOf: PoliciesById["of"];
  readonly #settings: LimiterSettings;
  readonly #client: DecisionClient;
  readonly #coalescer: TakeCoalescer;
  readonly #fallback: Fallback;
  readonly #leases: Leases | undefined;
  readonly #waiters = new FairWaiters();
  /** Undefined while nobody listens, so that a call then costs nothing more. */
  #listeners: DecisionListener[] | undefined;

  /**
   * `policies`: 1 to 16, or a function of the id, which may return a promise. All ids must have the same names and kinds. Throws ARGUMENT.
   */
  constructor(store: Store, policies: PoliciesOf, options: LimiterOptions) {
    this.#settings = new Site("Limiter", options?.name, store).checked(undefined, () => settingsOf(LIMITER, options));
    this.#at = siteOf("Limiter", store, options.name);
    this.#failedToTake = this.#at.thrower("take");
    this.name = options.name;
    this.#store = store;
    const { cacheForMs } = this.#settings;
    this.#policiesOf = this.#at.checked(undefined, () => {
      if (typeof policies !== "function") {
        const fixed = Object.freeze([...checkPolicies(policies)]);
        return () => fixed;
      }
      const byId = new PoliciesById(new Site("Limiter", options.name), policies, cacheForMs, store.monotonic);
      return (id, key, request) => byId.of(id, key, request);
    });
    this.#client = new DecisionClient(store);
    this.#fallback = new Fallback(store, this.name, this.#settings.onStoreError);
    this.#coalescer = new TakeCoalescer(this.#client, this.#fallback, this.#settings.denyCacheMs, store.monotonic);
    const { lease } = this.#settings;
    const ask = this.#coalescer.take.bind(this.#coalescer);
    if (lease) this.#leases = new Leases(this.#client, this.#fallback, lease, ask, store.monotonic);
    this[tap] = (listener) => {
      this.#listeners = [...(this.#listeners ?? []), listener];
    };
    this[passes] = (error) => store.goesOnWithout?.(`${this.#at.name} lets requests pass uncounted`, error);
    register(store, "Limiter", this.name, this, { policies: typeof policies === "function" ? "by id" : policies });
  }

  /** Takes permits, if all policies allow it. */
  take(id: string, options?: TakeOptions): Promise<Decision> {
    const deciding = this.#at.traced("take", () => this.#take(id, options));
    return this.#listeners ? this.#reported(id, deciding) : deciding;
  }

  #take(id: string, options: TakeOptions | undefined): Promise<Decision> {
    try {
      if (options !== undefined) return this.#takeWith(id, options).catch(this.#failedToTake);
      this.#fallback.share?.called();
      const keyPrefix = keyPrefixOf(this.#store, this.name, id, undefined);
      const policies = this.#policiesOf(id);
      const taking =
        policies instanceof Promise
          ? policies.then((loaded) => this.#takePlain(keyPrefix, loaded, 1))
          : this.#takePlain(keyPrefix, policies, 1);
      return taking.catch(this.#failedToTake);
    } catch (error) {
      return Promise.reject(this.#at.error("take", error));
    }
  }

  /** Passes a decision on to those that listen, or that there is none. */
  #reported(id: string, deciding: Promise<Decision>): Promise<Decision> {
    return this.#heard(deciding, (listener, decision) => listener.decided(decision, true, id));
  }

  /** Returns what follows, because V8 traces an error back to the caller only through promises that one other awaits. */
  #heard<T>(pending: Promise<T>, heard: (listener: DecisionListener, answer: T) => void): Promise<T> {
    const listeners = this.#listeners!;
    return pending.then(
      (answer) => {
        for (const each of listeners) heard(each, answer);
        return answer;
      },
      (error) => {
        for (const each of listeners) each.failed?.();
        throw error;
      },
    );
  }

  /** Returns what `take` would return, and takes no permits. */
  peek(id: string, options: Omit<TakeOptions, "requestId" | "atLeast"> = {}): Promise<Decision> {
    return this.#at.run("peek", () => this.#peek(id, options), "no");
  }

  async #peek(id: string, options: Omit<TakeOptions, "requestId" | "atLeast">): Promise<Decision> {
    checkCall(options, PEEK_OPTIONS);
    const asked = checkedCost(options.cost ?? 1);
    const of = this.#of(id, options);
    const { keyPrefix, policies } = of instanceof Promise ? await of : of;
    const cost = costsOf(asked, namesOf(policies));
    return this.#fallback.decide(this.#client, { keyPrefix, policies, cost, mode: MODE.peek, signal: options.signal });
  }

  /**
   * Waits for permits. Denied if they would not be free within `wait`. Callers wait in order, each id apart: those of one process,
   * and with a concurrency policy those of all processes. The first one asks again when its decision said so, or up to ten times
   * a second if lent permits may come back earlier.
   */
  acquire(id: string, options: AcquireOptions = {}): Promise<Decision> {
    const deciding = this.#at.run("acquire", async () => {
      checkCall(options, [...PEEK_OPTIONS, "wait"]);
      const { wait = "10s", ...rest } = options;
      const untilMs = this.#store.monotonic() + waitMsOf(wait);
      const of = this.#of(id, options);
      const { keyPrefix, policies } = of instanceof Promise ? await of : of;
      const ask = () => this.#takeWith(id, rest);
      const { signal } = options;
      const turns = turnsOf(policies);
      const store = this.#store;
      if (!turns) return this.#waiters.wait(keyPrefix, untilMs, store.monotonic, signal, ask);
      const peek = () => this.#peek(id, rest);
      return turns.acquire({ at: this.#at, store, key: turnKeyOf(keyPrefix), untilMs, signal, ask, peek });
    });
    return this.#listeners ? this.#reported(id, deciding) : deciding;
  }

  /** Takes `permits` even if they are not free, so later calls wait longer. Then peeks: two round trips. */
  penalty(id: string, permits = 1, options: TargetOptions = {}): Promise<Decision> {
    return this.#at.run("penalty", () => this.#change(id, options, MODE.add, permits));
  }

  /** Gives back taken permits, the newest ones first. */
  reward(id: string, permits = 1, options: TargetOptions = {}): Promise<Decision> {
    return this.#at.run("reward", () => this.#change(id, options, MODE.giveBack, permits));
  }

  /** Denies every call of an id for `duration`; 0 ends a block. */
  block(id: string, duration: Duration, options: TargetOptions = {}): Promise<Decision> {
    const msOf = () => durationMs("duration", duration, 0, 2 ** 52);
    return this.#at.run("block", () => this.#change(id, options, MODE.block, 0, msOf()));
  }

  /** Deletes the permits, block and reservations of an id. */
  reset(id: string, options: Pick<TakeOptions, "tag"> = {}): Promise<void> {
    return this.#at.run("reset", async () => {
      checkKnown(options, ["tag"]);
      const of = this.#of(id, options);
      const { keyPrefix, policies } = of instanceof Promise ? await of : of;
      this.#coalescer.forget(keyPrefix);
      this.#leases?.forget(keyPrefix);
      await this.#client.ask({ keyPrefix, policies, cost: 0, mode: MODE.reset, hasReservations: true });
      await turnsOf(policies)?.forget(this.#store, turnKeyOf(keyPrefix));
    });
  }

  /** Gives back the permits of a concurrency policy, by `decision.permit`. A second call, or a late one, changes nothing. */
  release(id: string, permit: string, options: Pick<TakeOptions, "tag"> = {}): Promise<void> {
    return this.#at.run("release", async () => {
      checkKnown(options, ["tag"]);
      checkPermit(permit);
      const of = this.#of(id, options);
      const { keyPrefix, policies } = of instanceof Promise ? await of : of;
      if (await this.#fallback.release(keyPrefix, policies, permit)) return;
      this.#coalescer.forget(keyPrefix);
      await this.#client.ask({ keyPrefix, policies, cost: 0, mode: MODE.release, token: permit });
    });
  }

  /**
   * Sets permits aside until the cost is known, if all policies allow it. The answer is a decision too. `settle` charges the cost,
   * `charge` the cost so far, `cancel` nothing. After the lease the rest is free, or is charged, as `ends` says. While the store is
   * unreachable `onStoreError` decides. A call that rejects may have reserved, until the lease ends.
   */
  reserve(id: string, options: ReserveOptions): Promise<Reservation> {
    const reserving = this.#at.run("reserve", async () => {
      checkCall(options, RESERVE_OPTIONS);
      const cost = checkedCost(options.cost);
      const terms = { ...reserveTermsOf(options), isByNumber: typeof cost === "number" };
      options.signal?.throwIfAborted();
      const part = this.#partOf(id, cost, options);
      const parts = [part instanceof Promise ? await part : part];
      return Reservation.open(this.#at, parts, { ...terms, policies: parts[0]!.policies });
    });
    if (!this.#listeners) return reserving;
    return this.#heard(reserving, (listener, { allowed }) => listener.reserved?.(allowed));
  }

  /**
   * Same as `reserve`, from several limiters and ids in one step, or from none. Requests and `tag` are those of `takeAll`, and so are
   * the names of policies. In `charge` and `settle` a policy's own name means this policy of each limiter.
   */
  static reserveAll(requests: readonly TakeRequest[], options: ReserveAllOptions): Promise<Reservation> {
    return NO_NAME.run("reserveAll", async () => {
      checkCall(options, RESERVE_ALL_OPTIONS);
      const { tag, ...given } = options;
      const terms = reserveTermsOf(given);
      given.signal?.throwIfAborted();
      const all = Limiter.#partsOf(requests, checkTakeAll(requests, { tag }));
      const isByNumber = requests.every(({ cost = 1 }) => typeof cost === "number");
      const parts = all.some((part) => part instanceof Promise) ? await Promise.all(all) : (all as TakePart[]);
      const at = siteOfParts(parts);
      return at.run("reserveAll", async () => {
        const reservation = await Reservation.open(at, parts, { ...terms, isByNumber, policies: policiesOf(parts) });
        for (const part of parts) part.reserved(reservation.allowed);
        return reservation;
      });
    });
  }

  /**
   * Takes from several limiters and ids in one step, or from none. In a cluster, one step can change only keys of one slot,
   * so `tag` names the slot: a tenant or a user, for example. Counts under a tag are separate from counts without it. Use the
   * same tag in `take` and `peek` to reach them. All requests together have at most 3000 policies.
   * In an outage the strictest `onStoreError` decides: "throw", "deny", `localDecisions()`, "allow".
   */
  static takeAll(requests: readonly TakeRequest[], options: { tag: string }): Promise<Decision> {
    return NO_NAME.run("takeAll", () => {
      const tag = checkTakeAll(requests, options);
      const parts = Limiter.#partsOf(requests, tag);
      const taken = (all: TakePart[]) => siteOfParts(all).run("takeAll", () => takeAll(all));
      return parts.some((part) => part instanceof Promise)
        ? Promise.all(parts).then(taken)
        : taken(parts as TakePart[]);
    });
  }

  static #partsOf(requests: readonly TakeRequest[], tag: string): (TakePart | Promise<TakePart>)[] {
    return requests.map((one: TakeRequest | undefined) => {
      if (!isLimiter(one?.limiter))
        throw argumentError("requests", one, ofThisCopy("objects with a limiter and an id", one?.limiter, "Limiter"));
      const { limiter, id, cost = 1 } = one!;
      return limiter.#partOf(id, checkedCost(cost), { tag });
    });
  }

  #partOf(id: string, cost: Cost, options: CallOptions): TakePart | Promise<TakePart> {
    const told: Pick<TakePart, "decided" | "reserved"> = {
      decided: (decision, hasDecided) => {
        for (const each of this.#listeners ?? []) each.decided(decision, hasDecided, id);
      },
      reserved: (isAllowed) => {
        for (const each of this.#listeners ?? []) each.reserved?.(isAllowed);
      },
    };
    const of = this.#of(id, options);
    const part = { limiter: this, store: this.#store, fallback: this.#fallback, ...told };
    const whole = (target: Target) => ({ ...target, ...part, cost: costsOf(cost, namesOf(target.policies)) });
    if (!(of instanceof Promise)) return whole(of);
    const loaded = of.then(whole);
    loaded.catch(() => {}); // nobody waits for it if a later request is refused
    return loaded;
  }

  #takePlain(keyPrefix: string, policies: readonly Policy[], cost: number): Promise<Decision> {
    if (!this.#leases || hasConcurrency(policies)) return this.#coalescer.take(keyPrefix, policies, cost);
    return this.#leases.take(keyPrefix, policies, cost);
  }

  async #takeWith(id: string, options: TakeOptions): Promise<Decision> {
    checkCall(options, TAKE_OPTIONS);
    const { atLeast, requestId, signal } = options;
    signal?.throwIfAborted();
    const asked = checkedCost(options.cost ?? 1);
    const amount = atLeast === undefined ? 0 : atLeastOf(atLeast, asked);
    const of = this.#of(id, options);
    const { keyPrefix, policies } = of instanceof Promise ? await of : of;
    const cost = costsOf(asked, namesOf(policies));
    if (typeof cost === "number" && atLeast === undefined && requestId === undefined && signal === undefined)
      return options.policies
        ? this.#coalescer.take(keyPrefix, policies, cost)
        : this.#takePlain(keyPrefix, policies, cost);
    const token = requestId !== undefined && hasConcurrency(policies) ? await requestToken(requestId) : newToken();
    return this.#fallback.decide(this.#client, {
      keyPrefix,
      policies,
      cost,
      mode: MODE.take,
      isPartial: atLeast !== undefined,
      amount,
      token,
      requestId,
      signal,
    });
  }

  async #change(id: string, options: TargetOptions, mode: number, permits: number, amount = 0): Promise<Decision> {
    checkKnown(options, ["tag", "policies"]);
    const cost = costOf(permits, "permits");
    const of = this.#of(id, options);
    const { keyPrefix, policies } = of instanceof Promise ? await of : of;
    this.#coalescer.forget(keyPrefix);
    this.#leases?.forget(keyPrefix);
    await this.#client.ask({ keyPrefix, policies, cost, mode, amount });
    const peek = { keyPrefix, policies, cost: 1, mode: MODE.peek };
    return this.#fallback.decide(this.#client, peek).catch((error: unknown) => {
      throw isStoreFailure(error) ? withApplied(error, "unknown") : error;
    });
  }

  /**
   * A promise, if the policies are loaded first. The signal ends the wait for it. Callers await nothing else, so that the calls of one
   * turn are sent in their order.
   */
  #of(id: string, options: CallOptions): Target | Promise<Target> {
    const { tag, policies: override, key, request, signal } = options;
    this.#fallback.share?.called();
    const keyPrefix = keyPrefixOf(this.#store, this.name, id, tag);
    const target = (own: readonly Policy[]) => ({
      keyPrefix,
      policies: override === undefined ? own : checkOverride(override, own),
    });
    const own = this.#policiesOf(id, key, request);
    return own instanceof Promise ? abortable(own.then(target), signal) : target(own);
  }
}

function isLimiter(value: unknown): boolean {
  return value instanceof Limiter;
}
