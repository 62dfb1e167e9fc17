import { Redis } from "ioredis";
import { type LimiterRival, rivalPackage } from "./limiter.ts";

const flexible = rivalPackage<typeof import("rate-limiter-flexible")>("rate-limiter-flexible");

/** The reference of all ratios, as its documentation shows it: one INCRBY in a script. */
export const FLEXIBLE: LimiterRival = {
  name: "rate-limiter-flexible",
  kind: "fixed window",
  timesLimit: 2,
  missing: flexible.missing,
  async open(redisUrl, { limit, spanMs }) {
    const { RateLimiterRedis } = flexible.load();
    const redis = new Redis(redisUrl); // auto-pipelining makes it slower, not faster
    const limiter = new RateLimiterRedis({ storeClient: redis, points: limit, duration: spanMs / 1000 });
    return {
      take: (id) => limiter.consume(id).then(allowed, denied),
      close: async () => void (await redis.quit()),
    };
  },
};

const allowed = () => true;

/** It rejects a denied call with its result, which is not an error. */
function denied(reason: unknown): false {
  if (reason instanceof Error) throw reason;
  return false;
}
