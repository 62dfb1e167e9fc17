// Only what the rivals use, so that types are checked where the rivals' packages are not installed.
declare module "opossum" {
  export default class CircuitBreaker {
    constructor(
      action: (task: () => Promise<number>) => Promise<number>,
      options: {
        timeout: false;
        errorThresholdPercentage: number;
        volumeThreshold: number;
        rollingCountTimeout: number;
        resetTimeout: number;
      },
    );
    fire(task: () => Promise<number>): Promise<number>;
    shutdown(): void;
  }
  /** The window of a circuit breaker, its lib/status.js: a timer turns it. */
  export class Status {
    constructor(options: { rollingCountBuckets: number; rollingCountTimeout: number; enableSnapshots: boolean });
    increment(property: "successes", latencyRunTime: number): void;
    readonly stats: { successes: number; latencyMean: number; percentiles: Record<string, number> };
    shutdown(): void;
  }
}

declare module "cockatiel" {
  export const handleAll: unknown;
  export class SamplingBreaker {
    constructor(options: { threshold: number; duration: number; minimumRps: number });
    success(state: number): void;
    failure(state: number): boolean;
    readonly state: unknown;
  }
  export function circuitBreaker(
    policy: unknown,
    options: { halfOpenAfter: number; breaker: SamplingBreaker },
  ): { execute(task: () => Promise<number>): Promise<number> };
}
