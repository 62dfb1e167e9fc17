import { Coalescer } from "../../../base/async/coalescer.ts";
import { type Deferred, deferred } from "../../../base/async/deferred.ts";
import type { Clock } from "../../../base/time.ts";
import { KIND, MODE, STATUS } from "../../../generated/layouts/limiter.ts";
import type { PackedStep, Store } from "../../../store/contract.ts";
import { refusal } from "../../../store/refusal.ts";
import type { Decision, PolicyDecision } from "../decision.ts";
import type { LocalDecisions, Share } from "../local-decisions.ts";
import type { OnStoreError } from "../options.ts";
import { arePoliciesEqual, type Costs, costAt, hasConcurrency, type Policy, quotaMsOf, turnTo } from "../policies.ts";
import { tokenOf } from "../steps/concurrency.ts";
import {
  type DecideReply,
  type DecideRequest,
  decideFor,
  policySuffixes,
  REQUESTS_SUFFIX,
  RESERVATIONS_SUFFIX,
  requestSuffix,
} from "../steps/decide.ts";
import type { Rule } from "../steps/rule.ts";
import { localTokenOf, newToken } from "../token.ts";
import { ExpiringCache, entryBytesOf } from "./expiring-cache.ts";
import { isStoreFailure, RETRY_AFTER_MS } from "./store-failure.ts";

export interface LimiterRequest {
  keyPrefix: string;
  policies: readonly Policy[];
  cost: Costs;
  mode: number;
  /** Number of equal calls; default 1. */
  calls?: number;
  isPartial?: boolean;
  amount?: number;
  token?: string;
  requestId?: string | undefined;
  /** Whether to read reservations. They are read anyway if the id has any. */
  hasReservations?: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Modes that may be sent again after a lost reply without counting twice. Blocks and resets are not among them: a late copy of one
 * would undo a later one of the other.
 */
const REPEATABLE: readonly number[] = [MODE.peek, MODE.reserve, MODE.charge, MODE.settle, MODE.release];
const NO_TOKEN = "";
/** The time of a reply is in the window that the next request names, unless it ends meanwhile or the server's clock is set. */
const MAX_REPEATS = 4;

type PreparedStep = [operation: PackedStep<DecideRequest, DecideReply>, ask: DecideRequest];

/** Sends requests to the store. Once an id had reservations, it reads them with each request. */
export class DecisionClient {
  readonly #store: Store;
  #seesReservations = false;
  /** The last plain take. The next one usually differs only in its id, so it reuses the prepared step. */
  #last: { policies: readonly Policy[]; cost: number; calls: number; step: PreparedStep } | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  async ask(request: LimiterRequest): Promise<DecideReply> {
    return this.askAgain(request, await this.#send(request, this.#seesReservations));
  }

  /** Sends a request again while its reply says that it lacked the reservations, or that a calendar window has changed. */
  async askAgain(request: LimiterRequest, reply: DecideReply): Promise<DecideReply> {
    return untilDecided(request.policies, reply, (lacksReservations) => {
      this.#seesReservations ||= lacksReservations;
      this.#last = undefined;
      return this.#send(request, this.#seesReservations);
    });
  }

  /** Sends equal calls on an id without concurrency policies. If the reply `isUndecided`, use `askAgain`. */
  take(keyPrefix: string, policies: readonly Policy[], cost: number, calls: number): Promise<DecideReply> {
    if (this.#seesReservations) return this.ask({ keyPrefix, policies, cost, mode: MODE.take, calls });
    if (this.#last?.policies !== policies || this.#last.cost !== cost || this.#last.calls !== calls) {
      const step = prepare({ keyPrefix, policies, cost, mode: MODE.take, calls }, false);
      this.#last = { policies, cost, calls, step };
    }
    const [operation, ask] = this.#last.step;
    return this.#store.run(operation, keyPrefix, ask);
  }

  #send(request: LimiterRequest, hasReservations: boolean): Promise<DecideReply> {
    const { keyPrefix, signal } = request;
    const [operation, ask] = prepare(request, hasReservations || request.hasReservations === true);
    return this.#store.run(operation, keyPrefix, ask, signal && { signal });
  }
}

function prepare({ policies, cost, mode, requestId, ...rest }: LimiterRequest, hasReservations: boolean): PreparedStep {
  const keySuffixes = policySuffixes(policies);
  if (hasReservations) keySuffixes.push(RESERVATIONS_SUFFIX);
  if (requestId !== undefined || mode === MODE.reset) keySuffixes.push(REQUESTS_SUFFIX);
  if (requestId !== undefined) keySuffixes.push(requestSuffix(requestId));
  const mayRepeat = requestId !== undefined || isRepeatable(mode);
  const ask = {
    mode,
    calls: rest.calls ?? 1,
    isPartial: rest.isPartial ?? false,
    amount: rest.amount ?? 0,
    token: rest.token ?? NO_TOKEN,
    rules: policies.map((policy, i) => ruleOf(policy, costAt(cost, i))),
    isHead: policies.map((_, i) => i === 0),
    keySuffixes,
    hasReservations,
    hasRequest: requestId !== undefined,
  };
  const grows = needsMemory(mode, cost, ask.amount);
  return [decideFor(policies.length, keySuffixes.length, mayRepeat, grows), ask];
}

export function isRepeatable(mode: number): boolean {
  return REPEATABLE.includes(mode);
}

/** Whether a step may make what is stored longer. */
export function needsMemory(mode: number, cost: Costs, amount: number): boolean {
  if (mode === MODE.settle || mode === MODE.charge)
    return typeof cost === "number" ? cost > 0 : cost.some((one) => one > 0);
  if (mode === MODE.block) return amount > 0;
  return mode === MODE.take || mode === MODE.add || mode === MODE.reserve;
}

export function ruleOf({ kind, limit, spanMs, rate, isAligned, isShadow, calendar }: Policy, cost: number): Rule {
  return { kind, isShadow, isAligned, calendar: 0, cost, limit, spanMs, rate, ...calendar?.terms };
}

/** Whether a step lacked something, and has not decided. */
function isUndecided({ status }: DecideReply): boolean {
  return status === STATUS.reservationsNeeded || status === STATUS.outside;
}

/** Sends a request again until its step decides. Calendar windows turn to the time of each reply. */
export async function untilDecided(
  policies: readonly Policy[],
  reply: DecideReply,
  again: (lacksReservations: boolean) => Promise<DecideReply>,
): Promise<DecideReply> {
  for (let left = MAX_REPEATS; isUndecided(reply); left--) {
    if (left === 0) throw refusal("UNAVAILABLE", "the server's clock left each calendar window that it was in");
    const isOutside = reply.status === STATUS.outside;
    if (isOutside) turnTo(policies, reply.permits);
    reply = await again(!isOutside);
  }
  return reply;
}

/** A denial at `atMs`, of calls with one cost and one set of policies. */
interface Denied {
  atMs: number;
  policies: readonly Policy[];
  cost: number;
  decision: Decision;
}

interface Group {
  keyPrefix: string;
  policies: readonly Policy[];
  cost: number;
  callers: Deferred<Decision>[];
}

/** Sends equal calls of one turn on one id as one step. Each caller gets the decision that it would have got alone. */
export class TakeCoalescer {
  readonly #client: DecisionClient;
  readonly #fallback: Fallback;
  readonly #denyCacheMs: number;
  readonly #now: Clock;
  readonly #coalescer = new Coalescer<Map<string, Group>>({
    // By a promise, which fake timers leave alone.
    schedule: (flush) => Promise.resolve().then(flush),
    begin: () => new Map(),
    send: (groups) => {
      for (const group of groups.values()) this.#send(group);
    },
  });
  readonly #denied: ExpiringCache<Denied>;

  constructor(client: DecisionClient, fallback: Fallback, denyCacheMs: number, now: Clock) {
    this.#client = client;
    this.#fallback = fallback;
    this.#denyCacheMs = denyCacheMs;
    this.#now = now;
    this.#denied = new ExpiringCache(now);
  }

  take(keyPrefix: string, policies: readonly Policy[], cost: number): Promise<Decision> {
    const denied = this.#denyCacheMs > 0 && this.#deniedBefore(keyPrefix, policies, cost);
    if (denied) return Promise.resolve(denied);
    const groups = this.#coalescer.open();
    let group = groups.get(keyPrefix);
    if (!group || !arePoliciesEqual(group.policies, policies) || group.cost !== cost) {
      if (group) this.#send(group);
      group = { keyPrefix, policies, cost, callers: [] };
      groups.set(keyPrefix, group);
    }
    const caller = deferred<Decision>();
    group.callers.push(caller);
    return caller.promise;
  }

  /** Drops the cached denial of an id. */
  forget(keyPrefix: string): void {
    this.#denied.delete(keyPrefix);
  }

  #send(group: Group): void {
    const { keyPrefix, policies, cost, callers } = group;
    const calls = callers.length;
    const token = hasConcurrency(policies) ? newToken() : "";
    const request = { keyPrefix, policies, cost, mode: MODE.take, calls, token };
    const settle = (reply: DecideReply) => this.#settle(group, token, reply);
    const fail = (error: unknown) => this.#fail(group, error);
    if (token !== "") this.#client.ask(request).then(settle, fail);
    else
      this.#client.take(keyPrefix, policies, cost, calls).then((reply) => {
        if (isUndecided(reply)) this.#client.askAgain(request, reply).then(settle, fail);
        else settle(reply);
      }, fail);
  }

  #settle({ keyPrefix, policies, cost, callers }: Group, token: string, reply: DecideReply): void {
    for (let i = 0; i < callers.length; i++) {
      const permit = token === "" ? undefined : tokenOf(token, i);
      const decision = decisionOf(reply, policies, cost, i, permit);
      if (!decision.allowed && this.#denyCacheMs > 0) this.#remember(keyPrefix, policies, cost, decision);
      callers[i]!.resolve(decision);
    }
  }

  #fail({ keyPrefix, policies, cost, callers }: Group, error: unknown): void {
    for (const { resolve, reject } of callers)
      this.#fallback.decideTake(keyPrefix, policies, cost, error).then(resolve, reject);
  }

  #deniedBefore(keyPrefix: string, policies: readonly Policy[], cost: number): Decision | undefined {
    const known = this.#denied.get(keyPrefix);
    if (!known || cost !== known.cost || !arePoliciesEqual(policies, known.policies)) return undefined;
    const elapsedMs = Math.floor(this.#now() - known.atMs);
    return elapsedMs < known.decision.retryAfterMs ? after(known.decision, elapsedMs) : undefined;
  }

  #remember(keyPrefix: string, policies: readonly Policy[], cost: number, decision: Decision): void {
    const atMs = this.#now();
    const untilMs = atMs + Math.min(this.#denyCacheMs, decision.retryAfterMs);
    this.#denied.set(keyPrefix, { atMs, policies, cost, decision }, untilMs, entryBytesOf(keyPrefix, policies));
  }
}

/** The same denial, `elapsedMs` later. */
function after(decision: Decision, elapsedMs: number): Decision {
  const less = <Times extends { retryAfterMs: number; resetAfterMs: number }>(one: Times): Times => ({
    ...one,
    retryAfterMs: Math.max(0, one.retryAfterMs - elapsedMs),
    resetAfterMs: Math.max(0, one.resetAfterMs - elapsedMs),
  });
  return { ...less(decision), policies: decision.policies.map(less) };
}

/** Decides by `onStoreError` while the store is unreachable. */
export class Fallback {
  readonly onStoreError: OnStoreError;
  /** Of the permits, for this process alone. */
  readonly share: Share | undefined;
  readonly #store: Store;
  /** The end of a sentence about the limiter while the store is away. */
  readonly #effect: string;
  #client: DecisionClient | undefined;

  constructor(store: Store, name: string, onStoreError: OnStoreError) {
    this.#store = store;
    this.onStoreError = onStoreError;
    if (typeof onStoreError !== "string") this.share = onStoreError.shareOf(store, name);
    const effects = {
      throw: "rejects",
      allow: "allows every call and enforces no limit",
      deny: "denies every call",
    };
    const local = "decides in this process alone, by its shares of the limits";
    this.#effect = `Limiter "${name}" ${typeof onStoreError === "string" ? effects[onStoreError] : local}`;
  }

  /** Whether `onStoreError` decides after `error`. The store then says so, once for each outage. */
  decidesAfter(error: unknown): boolean {
    if (!isStoreFailure(error) || this.onStoreError === "throw") return false;
    this.#store.goesOnWithout?.(this.#effect, error);
    return true;
  }

  /** Asks the store about one call, and decides without it if it fails. */
  async decide(client: DecisionClient, request: LimiterRequest): Promise<Decision> {
    try {
      return await decided(client, request);
    } catch (error) {
      return this.decideWithoutStore(request, error);
    }
  }

  /** Same as `decideWithoutStore`, for a plain take. */
  decideTake(keyPrefix: string, policies: readonly Policy[], cost: number, error: unknown): Promise<Decision> {
    return this.decideWithoutStore({ keyPrefix, policies, cost, mode: MODE.take }, error);
  }

  /** Decides without the store. Rejects with `error` if it is not a failure of the store, or under "throw". */
  async decideWithoutStore(request: LimiterRequest, error: unknown): Promise<Decision> {
    const { onStoreError } = this;
    if (!this.decidesAfter(error) || onStoreError === "throw") throw error;
    if (typeof onStoreError === "string") return fixedDecision(request.policies, request.cost, onStoreError);
    const share = this.share!;
    const policies = share.of(request.policies);
    const token = request.token ?? (hasConcurrency(policies) ? newToken() : undefined);
    return share.marked(await decided(this.clientOf(onStoreError), { ...request, policies, token }));
  }

  /** Releases a permit of a local decision. Resolves with false for a permit from the store. */
  async release(keyPrefix: string, policies: readonly Policy[], permit: string): Promise<boolean> {
    const token = localTokenOf(permit);
    if (token === undefined) return false;
    const { onStoreError } = this;
    if (typeof onStoreError === "string") return true;
    const shares = this.share!.of(policies);
    await this.clientOf(onStoreError).ask({ keyPrefix, policies: shares, cost: 0, mode: MODE.release, token });
    return true;
  }

  /** Decides in this process alone. */
  clientOf(local: LocalDecisions): DecisionClient {
    this.#client ??= new DecisionClient(local.storeFor(this.#store));
    return this.#client;
  }
}

/** The decision that allows or denies any call. */
export function fixedDecision(policies: readonly Policy[], cost: Costs, degradedBy: "allow" | "deny"): Decision {
  const allowed = degradedBy === "allow";
  const retryAfterMs = allowed ? 0 : RETRY_AFTER_MS;
  const decisions = policies.map((policy) => ({
    name: policy.name,
    kind: policy.kindName,
    allowed,
    shadow: policy.isShadow,
    limit: policy.limit,
    spanMs: quotaMsOf(policy),
    remaining: 0,
    retryAfterMs,
    resetAfterMs: retryAfterMs,
  }));
  const { name, limit } = decisions[0]!;
  const granted = allowed ? costAt(cost, 0) : 0;
  const shared = { policy: name, limit, remaining: 0, retryAfterMs, resetAfterMs: retryAfterMs };
  return { allowed, granted, degraded: true, degradedBy, ...shared, policies: decisions };
}

async function decided(client: DecisionClient, request: LimiterRequest): Promise<Decision> {
  const reply = await client.ask(request);
  const cost = typeof request.cost === "number" ? reply.permits : request.cost;
  return decisionOf(reply, request.policies, cost, 0, request.token);
}

/**
 * The decision for call number `index` of a group, as if the calls had come one after the other. `cost`: the cost of each
 * call, one number for all policies or one for each.
 */
export function decisionOf(
  reply: DecideReply,
  policies: readonly Policy[],
  cost: Costs,
  index: number,
  permit?: string,
): Decision {
  const allowed = index < reply.granted;
  const decisions: PolicyDecision[] = [];
  let refused: PolicyDecision | undefined;
  let tightest: PolicyDecision | undefined;
  let resetAfterMs = 0;
  for (let i = 0; i < policies.length; i++) {
    const { name, kindName, limit, isShadow, calendar } = policies[i]!;
    const { passes, waitMs, endMinute } = reply.policies[i]!;
    const isPassed = allowed ? index < passes : passes > reply.granted;
    const one: PolicyDecision = {
      name,
      kind: kindName,
      allowed: isPassed,
      shadow: isShadow,
      limit,
      spanMs: quotaMsOf(policies[i]!),
      remaining: 0,
      retryAfterMs: isPassed ? 0 : waitMs,
      resetAfterMs: 0,
    };
    setRemaining(one, reply, policies[i]!, i, costAt(cost, i), index);
    if (calendar) Object.assign(one, calendar.timesUntil(endMinute));
    decisions.push(one);
    resetAfterMs = Math.max(resetAfterMs, one.resetAfterMs);
    if (isShadow) continue;
    if (!isPassed && (!refused || one.retryAfterMs > refused.retryAfterMs)) refused = one;
    if (!tightest || one.remaining < tightest.remaining) tightest = one;
  }
  const named = refused ?? tightest ?? decisions[0]!;
  const isBlocked = reply.blockedMs > 0;
  const decision: Decision = {
    allowed,
    granted: allowed ? costAt(cost, decisions.indexOf(named)) : 0,
    degraded: false,
    policy: isBlocked ? "block" : named.name,
    limit: named.limit,
    remaining: isBlocked ? 0 : named.remaining,
    retryAfterMs: allowed ? 0 : Math.max(reply.blockedMs, refused?.retryAfterMs ?? 0),
    resetAfterMs: Math.max(resetAfterMs, reply.blockedMs),
    policies: decisions,
  };
  if (permit !== undefined && allowed && hasConcurrency(policies)) decision.permit = permit;
  return decision;
}

/** Sets what was left just after this call, before the later calls of its group. */
function setRemaining(
  one: PolicyDecision,
  reply: DecideReply,
  policy: Policy,
  i: number,
  cost: number,
  index: number,
): void {
  const { passes, used, reserved, resetMs } = reply.policies[i]!;
  const later = Math.max(0, Math.min(reply.granted, passes) - index - 1) * cost;
  if (policy.kind !== KIND.leaky) {
    one.remaining = Math.max(0, policy.limit - used - reserved + later);
    one.resetAfterMs = resetMs;
    return;
  }
  const level = used - later * policy.spanMs;
  one.remaining = Math.max(0, Math.floor((policy.limit * policy.spanMs - level) / policy.spanMs) - reserved);
  one.resetAfterMs = later === 0 ? resetMs : resetMs - Math.ceil(used / policy.rate) + Math.ceil(level / policy.rate);
}
