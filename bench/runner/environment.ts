import { createRequire } from "node:module";
import { cpus } from "node:os";
import { Redis } from "ioredis";

/** Versions and sizes that the numbers depend on. They do not identify the machine. */
export async function environment(redisUrl: string, kernelName: string): Promise<Record<string, string | number>> {
  const redis = new Redis(redisUrl);
  const info = await redis.info("server");
  await redis.quit();
  const require = createRequire(import.meta.url);
  return {
    cpu: cpus()[0]?.model.trim() ?? "unknown CPU",
    cores: cpus().length,
    node: process.versions.node,
    redis: /redis_version:(\S+)/.exec(info)?.[1] ?? "unknown",
    ioredis: (require("ioredis/package.json") as { version: string }).version,
    kernel: kernelName,
  };
}
