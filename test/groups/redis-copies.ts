import type { Redis } from "ioredis";

/** The keys of a Redis, except those of the registry, as they were at one instant. */
export type Saved = [key: string, bytes: Buffer, expireAtMs: number][];

const SAVE = `local saved = {}
for _, key in ipairs(redis.call("KEYS", "*")) do
  if not string.find(key, "registry", 1, true) then
    saved[#saved + 1] = { key, redis.call("GET", key), redis.call("PEXPIRETIME", key) }
  end
end
return saved`;

/** One script, because a chunk may be closed meanwhile. */
export async function savedKeys(redis: Redis): Promise<Saved> {
  const found = (await redis.callBuffer("EVAL", SAVE, "0")) as [Buffer, Buffer, number][];
  return found.map(([key, bytes, expireAtMs]) => [key.toString(), bytes, expireAtMs]);
}

/** Puts the keys back, as after a failover to a replica of that instant. */
export async function restoreKeys(redis: Redis, saved: Saved): Promise<void> {
  await redis.flushall();
  for (const [key, bytes, expireAtMs] of saved) await redis.set(key, bytes, "PXAT", expireAtMs);
}
