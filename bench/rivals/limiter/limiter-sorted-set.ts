import { randomBytes } from "node:crypto";
import { Redis } from "ioredis";
import type { LimiterRival } from "./limiter.ts";

/**
 * The usual exact sliding window: one script, the server's clock in µs, unique members. A denied call writes nothing except
 * the removal of members that left the window.
 */
const TAKE = `
local time = redis.call("TIME")
local now = time[1] * 1000000 + time[2]
local span = ARGV[2] * 1000
redis.call("ZREMRANGEBYSCORE", KEYS[1], "-inf", now - span)
if redis.call("ZCARD", KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call("ZADD", KEYS[1], now, ARGV[3])
redis.call("PEXPIRE", KEYS[1], ARGV[2])
return 1`;

interface Scripted extends Redis {
  takeOne(key: string, limit: number, spanMs: number, member: string): Promise<number>;
}

/** ioredis calls it by its SHA1. */
export const SORTED_SET: LimiterRival = {
  name: "sorted set",
  kind: "exact sliding window",
  timesLimit: 1,
  missing: () => undefined,
  async open(redisUrl, { limit, spanMs }) {
    const redis = new Redis(redisUrl) as Scripted;
    redis.defineCommand("takeOne", { numberOfKeys: 1, lua: TAKE });
    const client = randomBytes(6).toString("base64url");
    let calls = 0;
    return {
      take: async (id) =>
        (await redis.takeOne(`sorted set ${id}`, limit, spanMs, client + (calls++).toString(36))) === 1,
      close: async () => void (await redis.quit()),
    };
  },
};
