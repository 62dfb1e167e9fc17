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
}

declare module "cockatiel" {
  type Breaker = { readonly breaker: unique symbol };
  export const handleAll: unknown;
  export const SamplingBreaker: new (options: { threshold: number; duration: number; minimumRps: number }) => Breaker;
  export function circuitBreaker(
    policy: unknown,
    options: { halfOpenAfter: number; breaker: Breaker },
  ): { execute(task: () => Promise<number>): Promise<number> };
}
