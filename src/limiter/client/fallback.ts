import type { Store } from "../../store/contract.ts";
import type { DecidedBy, Decision } from "../decision.ts";
import type { LimiterSettings } from "../options.ts";
import { hasConcurrency, type Policy } from "../policies.ts";
import { decisionOf } from "../steps/decision-of.ts";
import { MODE } from "../steps/request.ts";
import { localTokenOf, newToken } from "../token.ts";
import { DecisionClient, type LimiterRequest } from "./decision-client.ts";
import { asLocalDecision, localStoreOf, processShareOf } from "./local-store.ts";
import { isStoreFailure, RETRY_AFTER_MS } from "./store-failure.ts";

/** Decides while the store is out of reach, as `onStoreError` says. */
export class Fallback {
  readonly onStoreError: LimiterSettings["onStoreError"];
  readonly #store: Store;
  readonly #localShare: number;
  #local: DecisionClient | undefined;

  constructor(store: Store, { onStoreError, localShare }: LimiterSettings) {
    this.#store = store;
    this.onStoreError = onStoreError;
    this.#localShare = localShare;
  }

  /** What the store says to one call, or what stands for it. */
  async decide(client: DecisionClient, question: LimiterRequest): Promise<Decision> {
    try {
      return await decided(client, question);
    } catch (error) {
      return this.decideWithoutStore(question, error);
    }
  }

  /** `instead` for a plain take or peek. */
  decideTake(keyPrefix: string, policies: readonly Policy[], cost: number, error: unknown): Promise<Decision> {
    return this.decideWithoutStore({ keyPrefix, policies, cost, mode: MODE.take }, error);
  }

  /** Stands for the store's answer; rejects with its error where it is another one, or nothing else was wished. */
  async decideWithoutStore(question: LimiterRequest, error: unknown): Promise<Decision> {
    const { onStoreError } = this;
    if (!isStoreFailure(error) || onStoreError === "throw") throw error;
    if (onStoreError !== "local") return fixedDecision(question.policies, question.cost, onStoreError);
    const policies = this.processSharesOf(question.policies);
    const token = question.token ?? (hasConcurrency(policies) ? newToken() : undefined);
    return asLocalDecision(await decided(this.local, { ...question, policies, token }));
  }

  /** Gives back what this process has lent without the store; false where the store has lent it. */
  async release(keyPrefix: string, policies: readonly Policy[], permit: string): Promise<boolean> {
    const token = localTokenOf(permit);
    if (token === undefined) return false;
    await this.local.ask({ keyPrefix, policies: this.processSharesOf(policies), cost: 0, mode: MODE.release, token });
    return true;
  }

  processSharesOf(policies: readonly Policy[]): Policy[] {
    return policies.map((policy) => processShareOf(policy, this.#localShare));
  }

  /** Asks this process alone. */
  get local(): DecisionClient {
    this.#local ??= new DecisionClient(localStoreOf(this.#store));
    return this.#local;
  }
}

/** Lets pass or denies whatever was asked. */
export function fixedDecision(policies: readonly Policy[], cost: number, degradedBy: DecidedBy): Decision {
  const allowed = degradedBy === "allow";
  const retryAfterMs = allowed ? 0 : RETRY_AFTER_MS;
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

async function decided(client: DecisionClient, question: LimiterRequest): Promise<Decision> {
  const reply = await client.ask(question);
  return decisionOf(reply, question.policies, reply.permits, 0, question.token);
}
