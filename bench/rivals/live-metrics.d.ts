// Only what the rivals use, so that types are checked where the rivals' packages are not installed.
declare module "opossum" {
  /** The window of a circuit breaker, its lib/status.js: a timer turns it. */
  export class Status {
    constructor(options: { rollingCountBuckets: number; rollingCountTimeout: number; enableSnapshots: boolean });
    increment(property: "successes", latencyRunTime: number): void;
    readonly stats: { successes: number; latencyMean: number; percentiles: Record<string, number> };
    shutdown(): void;
  }
}

declare module "cockatiel" {
  export class SamplingBreaker {
    constructor(options: { threshold: number; duration: number; minimumRps: number });
    success(state: number): void;
    failure(state: number): boolean;
    readonly state: unknown;
  }
}

declare module "prom-client" {
  export class Summary {
    constructor(options: { name: string; help: string; registers: []; maxAgeSeconds: number; ageBuckets: number });
    observe(value: number): void;
    get(): Promise<{ values: { metricName?: string; labels: { quantile?: number }; value: number }[] }>;
  }
}
