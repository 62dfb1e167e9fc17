import { Redis } from "ioredis";
import { type LimiterRival, rivalPackage } from "./limiter.ts";

const bottleneck = rivalPackage<typeof import("bottleneck")["default"]>("bottleneck");

/**
 * A scheduler of jobs. Its nearest equivalent to a decision is an empty job on a reservoir that drops a job it cannot run at
 * once. That takes three scripts a call, and the calls of a limiter run one after the other.
 */
export const BOTTLENECK: LimiterRival = {
  name: "bottleneck",
  kind: "reservoir",
  timesLimit: 2,
  missing: bottleneck.missing,
  oneIdOnly: "it is one object, with a heartbeat and two subscriptions, for each id",
  async open(redisUrl, { limit, spanMs }) {
    const Bottleneck = bottleneck.load();
    const client = new Redis(redisUrl);
    const connection = new Bottleneck.IORedisConnection({ client });
    const rate = { reservoir: limit, reservoirRefreshAmount: limit, reservoirRefreshInterval: spanMs };
    const dropping = { highWater: 0, strategy: Bottleneck.strategy.OVERFLOW };
    const limiters = new Map<string, InstanceType<typeof Bottleneck>>();
    return {
      async take(id) {
        const limiter = limiters.get(id) ?? new Bottleneck({ id, connection, ...rate, ...dropping });
        limiters.set(id, limiter);
        try {
          return await limiter.schedule(admit);
        } catch (error) {
          if (error instanceof Bottleneck.BottleneckError) return false;
          throw error;
        }
      },
      async close() {
        for (const limiter of limiters.values()) await limiter.disconnect(); // stops its heartbeat
        await connection.disconnect();
      },
    };
  },
};

const admit = async () => true;
