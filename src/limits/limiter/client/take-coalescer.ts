import { Coalescer } from "../../../base/async/coalescer.ts";
import { type Deferred, deferred } from "../../../base/async/deferred.ts";
import type { Clock } from "../../../base/time.ts";
import { MODE, STATUS } from "../../../generated/layouts/limiter.ts";
import type { Decision } from "../decision.ts";
import { arePoliciesEqual, hasConcurrency, type Policy } from "../policies.ts";
import { tokenOf } from "../steps/concurrency.ts";
import { decisionOf } from "../steps/decision-of.ts";
import type { DecideReply } from "../steps/request.ts";
import { newToken } from "../token.ts";
import type { DecisionClient } from "./decision-client.ts";
import { ExpiringCache, entryBytesOf } from "./expiring-cache.ts";
import type { Fallback } from "./fallback.ts";

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
        if (reply.status !== STATUS.reservationsNeeded) settle(reply);
        else this.#client.ask(request).then(settle, fail);
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
