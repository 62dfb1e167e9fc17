import { createHash } from "node:crypto";
import { Redis } from "ioredis";
import { type LimiterKind, type LimiterRival, rivalPackage } from "./limiter.ts";

type Upstash = typeof import("@upstash/ratelimit");
type Algorithm = ReturnType<Upstash["Ratelimit"]["fixedWindow"]>;

const upstash = rivalPackage<Upstash>("@upstash/ratelimit");

/**
 * The HTTP client interface of its limiters, on ioredis. Its scripts carry a flag that only Upstash's server supports, and
 * are named by the SHA1 of the text with that flag. Here they run without the flag, otherwise unchanged.
 */
class ScriptClient {
  readonly #redis: Redis;
  readonly #loaded = new Map<string, string>();

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  async evalsha(hash: string, keys: string[], args: (string | number)[]): Promise<unknown> {
    const loaded = this.#loaded.get(hash);
    if (!loaded) throw new Error("NOSCRIPT");
    return this.#redis.evalsha(loaded, keys.length, ...keys, ...args);
  }

  async eval(script: string, keys: string[], args: (string | number)[]): Promise<unknown> {
    const plain = script.replace(/^#!lua flags=allow-key-locking\n/, "#!lua\n");
    const hash = createHash("sha1").update(script).digest("hex");
    this.#loaded.set(hash, (await this.#redis.script("LOAD", plain)) as string);
    return this.evalsha(hash, keys, args);
  }
}

function rival(kind: LimiterKind, algorithm: (of: Upstash, limit: number, span: `${number} ms`) => Algorithm) {
  return {
    name: `@upstash/ratelimit ${kind}`,
    kind,
    timesLimit: 2,
    missing: upstash.missing,
    async open(redisUrl, { limit, spanMs }) {
      const redis = new Redis(redisUrl);
      const limiter = new (upstash.load().Ratelimit)({
        redis: new ScriptClient(redis),
        limiter: algorithm(upstash.load(), limit, `${spanMs} ms`),
        // Every call asks Redis, and no timer runs, as with the other rivals.
        ephemeralCache: false,
        timeout: 0,
        enableTelemetry: false,
      });
      return {
        take: async (id) => (await limiter.limit(id)).success,
        close: async () => void (await redis.quit()),
      };
    },
  } satisfies LimiterRival;
}

export const UPSTASH: readonly LimiterRival[] = [
  rival("fixed window", ({ Ratelimit }, limit, span) => Ratelimit.fixedWindow(limit, span)),
  rival("approximate sliding window", ({ Ratelimit }, limit, span) => Ratelimit.slidingWindow(limit, span)),
  rival("token bucket", ({ Ratelimit }, limit, span) => Ratelimit.tokenBucket(limit, span, limit)),
];
