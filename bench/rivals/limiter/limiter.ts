import { createRequire } from "node:module";

/** The algorithm of a limiter. It determines the state of an id in Redis. */
export type LimiterKind =
  | "fixed window"
  | "calendar window"
  | "exact sliding window"
  | "approximate sliding window"
  | "token bucket"
  | "leaky-bucket"
  | "GCRA"
  | "reservoir";

export interface LimiterClient {
  /** Asks for one permit of `id` now. Returns true when allowed. No call waits. */
  take(id: string): Promise<boolean>;
  close(): Promise<void>;
}

/** A rate limiter that many processes share through Redis. */
export interface LimiterRival {
  readonly name: string;
  readonly kind: LimiterKind;
  /** The most that it may admit of one id within any span, in multiples of the limit: 1 when exact, 2 where windows or buckets meet. */
  readonly timesLimit: 1 | 2;
  /** Why it cannot run on this machine, or undefined when it can. */
  missing(): string | undefined;
  /** Why a load of many ids would be unfair to it, if so. */
  readonly oneIdOnly?: string;
  open(redisUrl: string, rate: { limit: number; spanMs: number }): Promise<LimiterClient>;
}

const require = createRequire(import.meta.url);

/** Loads a rival's package, which is CommonJS and may be missing. */
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
