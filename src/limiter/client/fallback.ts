import type { Store } from "../../store/contract.ts";
import type { DecidedBy, Decision } from "../decision.ts";
import type { LimiterSettings } from "../options.ts";
import { lends, type Policy } from "../policies.ts";
import { decisionOf } from "../steps/answer.ts";
import { MODE } from "../steps/ask.ts";
import { localTokenOf, newToken } from "../token.ts";
import { Asker, type Question } from "./asker.ts";
import { isAway, TRY_AGAIN_MS } from "./away.ts";
import { decidedLocally, localOf, shareOf } from "./local.ts";

/** Decides while the store is out of reach, as `onStoreError` says. */
export class Fallback {
  readonly onStoreError: LimiterSettings["onStoreError"];
  readonly #store: Store;
  readonly #localShare: number;
  #local: Asker | undefined;

  constructor(store: Store, { onStoreError, localShare }: LimiterSettings) {
    this.#store = store;
    this.onStoreError = onStoreError;
    this.#localShare = localShare;
  }

  /** What the store says to one call, or what stands for it. */
  async decide(asker: Asker, question: Question): Promise<Decision> {
    try {
      return await decided(asker, question);
    } catch (error) {
      return this.instead(question, error);
    }
  }

  /** `instead` for a plain take or peek. */
  answer(base: string, policies: readonly Policy[], cost: number, error: unknown): Promise<Decision> {
    return this.instead({ base, policies, cost, mode: MODE.take }, error);
  }

  /** Stands for the store's answer; rejects with its error where it is another one, or nothing else was wished. */
  async instead(question: Question, error: unknown): Promise<Decision> {
    const { onStoreError } = this;
    if (!isAway(error) || onStoreError === "throw") throw error;
    if (onStoreError !== "local") return blind(question.policies, question.cost, onStoreError);
    const policies = this.sharesOf(question.policies);
    const token = question.token ?? (lends(policies) ? newToken() : undefined);
    return decidedLocally(await decided(this.local, { ...question, policies, token }));
  }

  /** Gives back what this process has lent without the store; false where the store has lent it. */
  async release(base: string, policies: readonly Policy[], permit: string): Promise<boolean> {
    const token = localTokenOf(permit);
    if (token === undefined) return false;
    await this.local.ask({ base, policies: this.sharesOf(policies), cost: 0, mode: MODE.release, token });
    return true;
  }

  sharesOf(policies: readonly Policy[]): Policy[] {
    return policies.map((policy) => shareOf(policy, this.#localShare));
  }

  /** Asks this process alone. */
  get local(): Asker {
    this.#local ??= new Asker(localOf(this.#store));
    return this.#local;
  }
}

/** Lets pass or denies whatever was asked. */
export function blind(policies: readonly Policy[], cost: number, degradedBy: DecidedBy): Decision {
  const allowed = degradedBy === "allow";
  const retryAfterMs = allowed ? 0 : TRY_AGAIN_MS;
  const told = policies.map(({ name, kindName, limit, spanMs, isShadow }) => ({
    name,
    kind: kindName,
    allowed,
    shadow: isShadow,
    limit,
    spanMs,
    remaining: 0,
    retryAfterMs,
    resetAfterMs: retryAfterMs,
  }));
  const { name, limit } = told[0];
  const granted = allowed ? cost : 0;
  const shared = { policy: name, limit, remaining: 0, retryAfterMs, resetAfterMs: retryAfterMs };
  return { allowed, granted, degraded: true, degradedBy, ...shared, policies: told };
}

async function decided(asker: Asker, question: Question): Promise<Decision> {
  const reply = await asker.ask(question);
  return decisionOf(reply, question.policies, reply.permits, 0, question.token);
}
