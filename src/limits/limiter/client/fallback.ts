import { MODE } from "../../../generated/layouts/limiter.ts";
import type { Store } from "../../../store/contract.ts";
import type { Decision } from "../decision.ts";
import type { LocalDecisions } from "../local-decisions.ts";
import type { OnStoreError } from "../options.ts";
import { hasConcurrency, type Policy, quotaMsOf } from "../policies.ts";
import { decisionOf } from "../steps/decision-of.ts";
import { localTokenOf, newToken } from "../token.ts";
import { DecisionClient, type LimiterRequest } from "./decision-client.ts";
import { isStoreFailure, RETRY_AFTER_MS } from "./store-failure.ts";

/** Decides by `onStoreError` while the store is unreachable. */
export class Fallback {
  readonly onStoreError: OnStoreError;
  readonly #store: Store;
  /** The end of a sentence about the limiter while the store is away. */
  readonly #effect: string;
  #client: DecisionClient | undefined;

  constructor(store: Store, name: string, onStoreError: OnStoreError) {
    this.#store = store;
    this.onStoreError = onStoreError;
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
    const policies = onStoreError.sharesOf(request.policies);
    const token = request.token ?? (hasConcurrency(policies) ? newToken() : undefined);
    return onStoreError.marked(await decided(this.clientOf(onStoreError), { ...request, policies, token }));
  }

  /** Releases a permit of a local decision. Resolves with false for a permit from the store. */
  async release(keyPrefix: string, policies: readonly Policy[], permit: string): Promise<boolean> {
    const token = localTokenOf(permit);
    if (token === undefined) return false;
    const { onStoreError } = this;
    if (typeof onStoreError === "string") return true;
    const shares = onStoreError.sharesOf(policies);
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
export function fixedDecision(policies: readonly Policy[], cost: number, degradedBy: "allow" | "deny"): Decision {
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
  const granted = allowed ? cost : 0;
  const shared = { policy: name, limit, remaining: 0, retryAfterMs, resetAfterMs: retryAfterMs };
  return { allowed, granted, degraded: true, degradedBy, ...shared, policies: decisions };
}

async function decided(client: DecisionClient, request: LimiterRequest): Promise<Decision> {
  const reply = await client.ask(request);
  return decisionOf(reply, request.policies, reply.permits, 0, request.token);
}
