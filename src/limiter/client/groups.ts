import { gathering } from "../../async/gathering.ts";
import type { Clock } from "../../time.ts";
import type { Decision } from "../decision.ts";
import { lends, type Policy } from "../policies.ts";
import { decisionOf } from "../steps/answer.ts";
import { MODE, type Reply, STATUS } from "../steps/ask.ts";
import { tokenOf } from "../steps/permits.ts";
import { newToken } from "../token.ts";
import type { Asker } from "./asker.ts";
import type { Fallback } from "./fallback.ts";
import { bytesOf, Recent } from "./recent.ts";

interface Caller {
  resolve(decision: Decision): void;
  reject(error: unknown): void;
}

/** A denial as it was at `atMs`, of calls of one cost under one set of limits. */
interface Denied {
  atMs: number;
  policies: readonly Policy[];
  cost: number;
  decision: Decision;
}

interface Group {
  base: string;
  policies: readonly Policy[];
  cost: number;
  callers: Caller[];
}

/** Puts alike calls of one turn on one id into one step; each caller gets the decision that it would have had alone. */
export class Groups {
  readonly #asker: Asker;
  readonly #fallback: Fallback;
  readonly #denyCacheMs: number;
  readonly #now: Clock;
  #open = new Map<string, Group>();
  readonly #denied: Recent<Denied>;

  constructor(asker: Asker, fallback: Fallback, denyCacheMs: number, now: Clock) {
    this.#asker = asker;
    this.#fallback = fallback;
    this.#denyCacheMs = denyCacheMs;
    this.#now = now;
    this.#denied = new Recent(now);
  }

  take(base: string, policies: readonly Policy[], cost: number): Promise<Decision> {
    const denied = this.#denyCacheMs > 0 && this.#deniedBefore(base, policies, cost);
    if (denied) return Promise.resolve(denied);
    return new Promise((resolve, reject) => {
      let group = this.#open.get(base);
      if (!group || group.policies !== policies || group.cost !== cost) {
        if (group) this.#send(group);
        if (this.#open.size === 0) gathering().then(this.#sendAll);
        group = { base, policies, cost, callers: [] };
        this.#open.set(base, group);
      }
      group.callers.push({ resolve, reject });
    });
  }

  /** Denials of an id that may no longer be so. */
  forget(base: string): void {
    this.#denied.delete(base);
  }

  readonly #sendAll = () => {
    const open = this.#open;
    this.#open = new Map();
    for (const group of open.values()) this.#send(group);
  };

  #send(group: Group): void {
    const { base, policies, cost, callers } = group;
    const calls = callers.length;
    const token = lends(policies) ? newToken() : "";
    const question = { base, policies, cost, mode: MODE.take, calls, token };
    const settle = (reply: Reply) => this.#settle(group, token, reply);
    const fail = (error: unknown) => this.#fail(group, error);
    if (token !== "") this.#asker.ask(question).then(settle, fail);
    else
      this.#asker.take(base, policies, cost, calls).then((reply) => {
        if (reply.status !== STATUS.holdsNeeded) settle(reply);
        else this.#asker.ask(question).then(settle, fail);
      }, fail);
  }

  #settle({ base, policies, cost, callers }: Group, token: string, reply: Reply): void {
    for (let i = 0; i < callers.length; i++) {
      const permit = token === "" ? undefined : tokenOf(token, i);
      const decision = decisionOf(reply, policies, cost, i, permit);
      if (!decision.allowed && this.#denyCacheMs > 0) this.#remember(base, policies, cost, decision);
      callers[i].resolve(decision);
    }
  }

  #fail({ base, policies, cost, callers }: Group, error: unknown): void {
    for (const { resolve, reject } of callers) this.#fallback.answer(base, policies, cost, error).then(resolve, reject);
  }

  #deniedBefore(base: string, policies: readonly Policy[], cost: number): Decision | undefined {
    const known = this.#denied.get(base);
    if (!known || cost !== known.cost || policies !== known.policies) return undefined;
    const goneMs = Math.floor(this.#now() - known.atMs);
    return goneMs < known.decision.retryAfterMs ? after(known.decision, goneMs) : undefined;
  }

  #remember(base: string, policies: readonly Policy[], cost: number, decision: Decision): void {
    const atMs = this.#now();
    const untilMs = atMs + Math.min(this.#denyCacheMs, decision.retryAfterMs);
    this.#denied.set(base, { atMs, policies, cost, decision }, untilMs, bytesOf(base, policies));
  }
}

/** The same denial some ms later. */
function after(decision: Decision, goneMs: number): Decision {
  const less = <Times extends { retryAfterMs: number; resetAfterMs: number }>(one: Times): Times => ({
    ...one,
    retryAfterMs: Math.max(0, one.retryAfterMs - goneMs),
    resetAfterMs: Math.max(0, one.resetAfterMs - goneMs),
  });
  return { ...less(decision), policies: decision.policies.map(less) };
}
