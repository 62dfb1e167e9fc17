import { createRequire } from "node:module";

/** The law by which a limiter decides; what Redis keeps of an id depends on it. */
export type LimiterKind =
  | "fixed window"
  | "exact sliding window"
  | "approximate sliding window"
  | "token bucket"
  | "leaky-bucket"
  | "GCRA"
  | "reservoir";

export interface LimiterClient {
  /** Asks for one permit of `id`, now: whether it was given. Nobody waits in a queue. */
  take(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** A rate limiter that many processes share through Redis. */
export interface LimiterRival {
  readonly name: string;
  readonly kind: LimiterKind;
  /** What it may let pass of one id within some span, in limits: 1 where it is exact, 2 where windows or buckets meet. */
  readonly timesLimit: 1 | 2;
  /** Why it cannot run on this machine, or undefined when it can. */
  missing(): string | undefined;
  /** Why many ids are no fair load for it, if they are not. */
  readonly oneIdOnly?: string;
  open(redisUrl: string, rate: { limit: number; spanMs: number }): Promise<LimiterClient>;
}

const require = createRequire(import.meta.url);

/** A rival's package, which is CommonJS and may not be there. */
export function rivalPackage<T>(name: string): { missing(): string | undefined; load(): T } {
  return {
    missing() {
      try {
        require.resolve(name);
        return undefined;
      } catch {
        return `${name} is not installed (npm ci in bench/)`;
      }
    },
    load: () => require(name) as T,
  };
}
