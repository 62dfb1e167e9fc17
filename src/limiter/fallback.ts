import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { memoryStore } from "../store/memory.ts";
import { decisionOf } from "./answer.ts";
import { MODE } from "./ask.ts";
import { Asker } from "./asker.ts";
import type { DecidedBy, Decision } from "./decision.ts";
import type { LimiterSettings } from "./options.ts";
import type { Policy } from "./policies.ts";

/** After which a call that was denied for want of a store may try again. */
const DENIED_FOR_MS = 1000;
const MOST_LOCAL_BYTES = 64 * 2 ** 20;

/** Decides while the store is out of reach, as `onStoreError` says. */
export class Fallback {
  readonly #store: Store;
  readonly #settings: LimiterSettings;
  #local: Asker | undefined;

  constructor(store: Store, settings: LimiterSettings) {
    this.#store = store;
    this.#settings = settings;
  }

  /** What `ask` answers, or what stands for it. */
  async or(
    base: string,
    policies: readonly Policy[],
    cost: number,
    isPeek: boolean,
    ask: () => Promise<Decision>,
  ): Promise<Decision> {
    try {
      return await ask();
    } catch (error) {
      return this.answer(base, policies, cost, isPeek, error);
    }
  }

  /** Instead of an error; rejects with it where it is not the store's, or nothing else was wished. */
  async answer(
    base: string,
    policies: readonly Policy[],
    cost: number,
    isPeek: boolean,
    error: unknown,
  ): Promise<Decision> {
    const { onStoreError } = this.#settings;
    const isStores = error instanceof OrielError && ["DEADLINE", "UNAVAILABLE"].includes(error.code);
    if (!isStores || onStoreError === "throw") throw error;
    if (onStoreError !== "local") return blind(policies, cost, onStoreError);
    const mine = policies.map((policy) => this.#shareOf(policy));
    this.#local ??= new Asker(memoryStore({ monotonic: this.#store.monotonic, maxBytes: MOST_LOCAL_BYTES }));
    const mode = isPeek ? MODE.peek : MODE.take;
    const reply = await this.#local.ask({ base, policies: mine, cost, mode });
    const decision = decisionOf(reply, mine, cost, 0);
    return { ...decision, degraded: true, degradedBy: "local" };
  }

  #shareOf(policy: Policy): Policy {
    const { localShare } = this.#settings;
    if (localShare === 1 || policy.limit === 0) return policy;
    const part = (permits: number) => Math.max(1, Math.floor(permits * localShare));
    return { ...policy, limit: part(policy.limit), rate: part(policy.rate) };
  }
}

function blind(policies: readonly Policy[], cost: number, degradedBy: DecidedBy): Decision {
  const allowed = degradedBy === "allow";
  const retryAfterMs = allowed ? 0 : DENIED_FOR_MS;
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
