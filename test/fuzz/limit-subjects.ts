import {
  Breaker,
  calendarWindow,
  concurrency,
  FleetMetrics,
  fixedWindow,
  gcra,
  Limiter,
  type LimiterOptions,
  leakyBucket,
  localDecisions,
  slidingWindow,
} from "../../src/entries/index.ts";
import { expectEqual } from "./expect-equal.ts";
import type { Driven, Subject } from "./subject.ts";

const POLICIES = [
  fixedWindow({ limit: 1000, span: "1m" }),
  slidingWindow({ limit: 1000, span: "10m" }),
  leakyBucket({ capacity: 1000, span: "1h" }),
  gcra({ limit: 1000, span: "1h" }),
  calendarWindow({ limit: 1000, every: "month", timeZone: "Europe/Berlin" }),
];
const LENDING = [...POLICIES, concurrency({ limit: 1000, lease: "10m" })];

function limiterSubject(name: string, policies: typeof POLICIES, more: Partial<LimiterOptions> = {}): Subject {
  return {
    name,
    called: /limiter/i,
    drives: ["Limiter"],
    keys: [
      ...policies.map((policy) => new RegExp(`^oriel:\\{NAME:u\\}:limit:${policy.name}$`)),
      ...policies.map((policy) => new RegExp(`^oriel:\\{t\\}:limit:NAME:u:${policy.name}$`)),
      /^oriel:\{NAME:u\}:limit!holds$/,
      /^oriel:\{NAME:u\}:limit!requests?(:r)?$/,
      // Of local decisions. No call waits for its step, and a failure leaves the last count.
      ...(more.onStoreError ? [/^oriel:\{NAME\}:limit:processes$/] : []),
    ],
    open(store, key): Driven {
      const limiter = new Limiter(store, policies, { name: key, ...more });
      return {
        reported: [],
        async seed() {
          await limiter.take("u", { cost: 3 });
          await limiter.take("u", { requestId: "r" });
          await limiter.reserve("u", { cost: 1, lease: "10m" });
          await Limiter.takeAll([{ limiter, id: "u" }], { tag: "t" });
        },
        asks: {
          take: () => limiter.take("u"),
          "take again": () => limiter.take("u"),
          "take by a request id": () => limiter.take("u", { requestId: "r" }),
          "take by another request id": () => limiter.take("u", { requestId: "other" }),
          "take with a tag": () => limiter.take("u", { tag: "t" }),
          takeAll: () => Limiter.takeAll([{ limiter, id: "u" }], { tag: "t" }),
          peek: () => limiter.peek("u"),
          acquire: () => limiter.acquire("u", { wait: 50 }),
          penalty: () => limiter.penalty("u", 2),
          reward: () => limiter.reward("u", 1),
          reserve: async () => {
            const reserved = await limiter.reserve("u", { cost: 2, lease: "1m", ends: "charged" });
            return reserved.allowed && [await reserved.charge(1), await reserved.settle(1)];
          },
          reserveAll: async () => {
            const reserved = await Limiter.reserveAll([{ limiter, id: "u" }], { tag: "t", lease: "1m" });
            return reserved.cancel();
          },
          "reserve and cancel": async () => (await limiter.reserve("u", { cost: 2, lease: "1m" })).cancel(),
          block: () => limiter.block("u", 5),
          release: () => limiter.release("u", "0".repeat(32)),
          "another id": () => limiter.take("another"),
          reset: () => limiter.reset("u"),
          "take after reset": async () => {
            const { allowed } = await limiter.take("u");
            expectEqual(`${name}: allowed after reset`, allowed, true);
          },
        },
        async check() {
          await limiter.reset("own");
          const { policies: all } = await limiter.take("own", { cost: 2, requestId: `${Math.random()}` });
          const own = all.filter(({ kind }) => kind !== "concurrency");
          expectEqual(
            `${name}: remaining`,
            own.map(({ remaining }) => remaining),
            own.map(() => 998),
          );
        },
        close: async () => {},
      };
    },
  };
}

export const limiter = limiterSubject("limiter", LENDING);
export const leasingLimiter = limiterSubject("limiter with leases", POLICIES, {
  lease: { permits: 5, for: 100 },
  denyCache: 50,
  onStoreError: localDecisions(),
});

export const breaker: Subject = {
  name: "breaker",
  called: /breaker/i,
  drives: ["Breaker"],
  keys: [/^oriel:\{NAME\}:breaker:\d+$/],
  open(store, key, span = "1m"): Driven {
    const made = () => new Breaker(store, { name: key, span, failures: 100, minimumCalls: 2, cooldown: 50, flush: 1 });
    const own = made();
    const reported: unknown[] = [];
    own.on("error", ({ error }) => void reported.push(error));
    const bad = () => own.run(() => Promise.reject(new RangeError("meant"))).catch((error) => passOn(error));
    return {
      reported,
      async seed() {
        await own.run(async () => 1);
        await bad();
        await own.flush();
      },
      asks: {
        run: () => own.run(async () => 1),
        fail: bad,
        flush: () => own.flush(),
        "run again": () => own.run(async () => 1),
        "of another process": async () => {
          const other = made();
          await other.flush();
          await other.run(async () => 1);
        },
        stats: async () => own.stats(),
      },
      async check() {
        await own.flush();
        const before = own.stats().calls;
        await own.run(async () => 1);
        await own.flush();
        expectEqual("breaker: calls", own.stats().calls - before, 1);
      },
      close: () => own.flush(),
    };
  },
};

/** An error that a caller threw is not one of oriel's. */
function passOn(error: unknown): void {
  if (!(error instanceof RangeError && error.message === "meant")) throw error;
}

export const fleet: Subject = {
  name: "fleet",
  called: /fleet/i,
  drives: ["FleetMetrics"],
  keys: [/^oriel:\{NAME\}:fleet$/, /^oriel:\{NAME:[ab]\}:latency$/],
  open(store, key, span = "1m"): Driven {
    const own = new FleetMetrics(store, key, { flush: 20, sampleCount: 60, interval: span, percentiles: true });
    const reported: unknown[] = [];
    own.on("error", ({ error }) => void reported.push(error));
    const count = () => {
      own.metric("a").recordSuccess(5);
      own.metric("b").recordSuccess(6);
    };
    return {
      reported,
      async seed() {
        count();
        await own.flush();
      },
      asks: {
        flush: async () => {
          count();
          await own.flush();
        },
        read: () => own.read("a"),
        readAll: () => own.readAll(),
        latencyPercentilesMs: () => own.latencyPercentilesMs("a", [50]),
        "flush again": async () => {
          count();
          await own.flush();
        },
        "of another process": () => new FleetMetrics(store, key, { percentiles: true }).readAll(),
      },
      async check() {
        const before = (await own.read("a")).success();
        count();
        expectEqual("fleet: success", (await own.read("a")).success() - before, 1);
      },
      close: () => own.close(),
    };
  },
};
