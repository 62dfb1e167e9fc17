import { Breaker } from "../../src/limits/breaker/breaker.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { rivalPackage } from "./limiter/limiter.ts";

export type Task = () => Promise<number>;

/** A circuit breaker that opens when more than half of the calls of 10 s failed, from 10 calls on. */
export interface BreakerRival {
  readonly name: string;
  /** Why it cannot run on this machine, or undefined when it can. */
  missing(): string | undefined;
  /** A closed breaker with its own window. */
  open(redisUrl: string): { run(task: Task): Promise<number>; close(): Promise<void> | void };
}

const here = () => undefined;
const opossum = rivalPackage<typeof import("opossum")["default"]>("opossum");
const cockatiel = rivalPackage<typeof import("cockatiel")>("cockatiel");
const RULE = { span: "10s", failureRatio: 0.5, minimumCalls: 10, cooldown: "30s" } as const;
let opened = 0;

/** The cost of the call without a breaker. */
export const BARE: BreakerRival = {
  name: "no breaker",
  missing: here,
  open: () => ({ run: (task) => task(), close() {} }),
};

export const LOCAL: BreakerRival = {
  name: "oriel, one process",
  missing: here,
  open() {
    const breaker = new Breaker("local", RULE);
    return { run: (task) => breaker.run(task), close() {} };
  },
};

function shared(name: string, quorum?: number): BreakerRival {
  return {
    name,
    missing: here,
    open(redisUrl) {
      const store = redisStore(redisUrl, { deadline: "1m" });
      const breaker = new Breaker(store, { ...RULE, quorum, name: `bench ${process.pid} ${opened++}` });
      return { run: (task) => breaker.run(task), close: () => store.close() };
    },
  };
}

const OPOSSUM: BreakerRival = {
  name: "opossum",
  missing: opossum.missing,
  open() {
    const options = { timeout: false, errorThresholdPercentage: 50, volumeThreshold: 10 } as const;
    const CircuitBreaker = opossum.load();
    const breaker = new CircuitBreaker((task) => task(), {
      ...options,
      rollingCountTimeout: 10_000,
      resetTimeout: 30_000,
    });
    return { run: (task) => breaker.fire(task), close: () => breaker.shutdown() };
  },
};

const COCKATIEL: BreakerRival = {
  name: "cockatiel",
  missing: cockatiel.missing,
  open() {
    const { circuitBreaker, handleAll, SamplingBreaker } = cockatiel.load();
    const breaker = new SamplingBreaker({ threshold: 0.5, duration: 10_000, minimumRps: 1 });
    const policy = circuitBreaker(handleAll, { halfOpenAfter: 30_000, breaker });
    return { run: (task) => policy.execute(task), close() {} };
  },
};

export const BREAKER_RIVALS: readonly BreakerRival[] = [
  ...[BARE, LOCAL, shared("oriel, shared"), shared("oriel, shared, with a quorum", 0.5)],
  ...[OPOSSUM, COCKATIEL],
];
