// Only what the rivals use, so that types are checked where the rivals' packages are not installed.
declare module "rate-limiter-flexible" {
  export class RateLimiterRedis {
    constructor(options: {
      storeClient: unknown;
      points: number;
      duration: number;
      insuranceLimiter?: RateLimiterMemory;
    });
    /** Rejects with a value that is not an Error when the call is denied. */
    consume(id: string): Promise<object>;
  }
  export class RateLimiterMemory {
    constructor(options: { points: number; duration: number });
    consume(id: string): Promise<object>;
  }
}

declare module "@upstash/ratelimit" {
  interface Algorithm {
    readonly algorithm: unique symbol;
  }
  export class Ratelimit {
    constructor(options: {
      redis: {
        evalsha(hash: string, keys: string[], args: (string | number)[]): Promise<unknown>;
        eval(script: string, keys: string[], args: (string | number)[]): Promise<unknown>;
      };
      limiter: Algorithm;
      ephemeralCache: false;
      timeout: number;
      enableTelemetry: boolean;
    });
    static fixedWindow(limit: number, span: `${number} ms`): Algorithm;
    static slidingWindow(limit: number, span: `${number} ms`): Algorithm;
    static tokenBucket(refill: number, span: `${number} ms`, capacity: number): Algorithm;
    limit(id: string): Promise<{ success: boolean }>;
  }
}

declare module "bottleneck" {
  export default class Bottleneck {
    constructor(options: {
      id: string;
      connection: { disconnect(): Promise<void> };
      reservoir: number;
      reservoirRefreshAmount: number;
      reservoirRefreshInterval: number;
      highWater: number;
      strategy: number;
    });
    schedule<T>(job: () => Promise<T>): Promise<T>;
    disconnect(): Promise<void>;
    static readonly BottleneckError: new () => Error;
    static readonly strategy: { readonly OVERFLOW: number };
    static readonly IORedisConnection: new (options: {
      client: unknown;
    }) => { disconnect(): Promise<void> };
  }
}
