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

/** Decides by `onStoreError` while the store is unreachable. */
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
    if (!isStoreFailure(error) || onStoreError === "throw") throw error;
    if (onStoreError !== "local") return fixedDecision(request.policies, request.cost, onStoreError);
    const policies = this.processSharesOf(request.policies);
    const token = request.token ?? (hasConcurrency(policies) ? newToken() : undefined);
    return asLocalDecision(await decided(this.local, { ...request, policies, token }));
  }

  /** Releases a permit of a local decision. Resolves with false for a permit from the store. */
  async release(keyPrefix: string, policies: readonly Policy[], permit: string): Promise<boolean> {
    const token = localTokenOf(permit);
    if (token === undefined) return false;
    await this.local.ask({ keyPrefix, policies: this.processSharesOf(policies), cost: 0, mode: MODE.release, token });
    return true;
  }

  processSharesOf(policies: readonly Policy[]): Policy[] {
    return policies.map((policy) => processShareOf(policy, this.#localShare));
  }

  /** Decides in this process alone. */
  get local(): DecisionClient {
    this.#local ??= new DecisionClient(localStoreOf(this.#store));
    return this.#local;
  }
}

/** The decision that allows or denies any call. */
export function fixedDecision(policies: readonly Policy[], cost: number, degradedBy: DecidedBy): Decision {
  const allowed = degradedBy === "allow";
  const retryAfterMs = allowed ? 0 : RETRY_AFTER_MS;
  const decisions = policies.map(({ name, kindName, limit, spanMs, isShadow }) => ({
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
  const { name, limit } = decisions[0]!;
  const granted = allowed ? cost : 0;
  const shared = { policy: name, limit, remaining: 0, retryAfterMs, resetAfterMs: retryAfterMs };
  return { allowed, granted, degraded: true, degradedBy, ...shared, policies: decisions };
}

async function decided(client: DecisionClient, request: LimiterRequest): Promise<Decision> {
  const reply = await client.ask(request);
  return decisionOf(reply, request.policies, reply.permits, 0, request.token);
}
