import type { CountingTaker } from "../../src/http/taker.ts";
import type { Decision, PolicyDecision } from "../../src/limiter/decision.ts";

export interface WindowPolicy {
  name: string;
  limit: number;
  spanMs: number;
}

/** A limiter of fixed windows, each from the id's first call on; all or nothing. */
export class FixedWindowTaker implements CountingTaker {
  readonly taken: string[] = [];
  readonly released: string[] = [];
  /** Lent with every allowed call, as a concurrency policy does. */
  permit: string | undefined;
  /** Every call answers after it. */
  held: Promise<void> | undefined;
  /** Thrown by every call. */
  failure: Error | undefined;
  private readonly windows = new Map<string, { fromMs: number; count: number }>();

  constructor(
    private readonly policies: WindowPolicy[],
    private readonly clock: () => number = () => 0,
  ) {}

  async take(id: string, { cost = 1 }: { cost?: number } = {}): Promise<Decision> {
    if (this.failure) throw this.failure;
    this.taken.push(id);
    await this.held;
    const decision = this.decide(id, cost);
    return this.permit === undefined || !decision.allowed ? decision : { ...decision, permit: this.permit };
  }

  async release(id: string, permit: string): Promise<void> {
    this.released.push(`${id} ${permit}`);
    throw new Error("a release that fails must trouble nobody");
  }

  async peek(id: string): Promise<Decision> {
    return this.decide(id, 0);
  }

  async reward(id: string, permits: number): Promise<void> {
    for (const policy of this.policies) {
      const window = this.windowOf(id, policy);
      window.count = Math.max(window.count - permits, 0);
    }
  }

  async reset(id: string): Promise<void> {
    for (const policy of this.policies) this.windows.delete(`${policy.name} ${id}`);
  }

  private windowOf(id: string, policy: WindowPolicy): { fromMs: number; count: number } {
    const key = `${policy.name} ${id}`;
    const window = this.windows.get(key);
    if (window !== undefined && this.clock() < window.fromMs + policy.spanMs) return window;
    const fresh = { fromMs: this.clock(), count: 0 };
    this.windows.set(key, fresh);
    return fresh;
  }

  private decide(id: string, cost: number): Decision {
    const windows = this.policies.map((policy) => this.windowOf(id, policy));
    const fits = windows.map(({ count }, i) => count + cost <= this.policies[i].limit);
    const allowed = fits.every(Boolean);
    if (allowed) for (const window of windows) window.count += cost;
    const policies = this.policies.map((policy, i): PolicyDecision => {
      const endsInMs = windows[i].fromMs + policy.spanMs - this.clock();
      return {
        ...policy,
        shadow: false,
        allowed: fits[i],
        remaining: policy.limit - windows[i].count,
        retryAfterMs: fits[i] ? 0 : cost > policy.limit ? Number.POSITIVE_INFINITY : endsInMs,
        resetAfterMs: windows[i].count === 0 ? 0 : endsInMs,
      };
    });
    const named =
      policies.find((policy) => !policy.allowed) ?? [...policies].sort((a, b) => a.remaining - b.remaining)[0];
    return {
      allowed,
      granted: allowed ? cost : 0,
      degraded: false,
      policy: named.name,
      limit: named.limit,
      remaining: named.remaining,
      retryAfterMs: Math.max(...policies.map((policy) => policy.retryAfterMs)),
      resetAfterMs: Math.max(...policies.map((policy) => policy.resetAfterMs)),
      policies,
    };
  }
}
