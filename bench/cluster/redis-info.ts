import type { Redis } from "ioredis";

/** The number of commands that the server has executed, including those in scripts. */
export async function commandsOf(raw: Redis): Promise<number> {
  const calls = (await raw.info("commandstats")).matchAll(/^cmdstat_(\S+):calls=(\d+)/gm);
  return [...calls].reduce((sum, [, name, count]) => sum + (name === "info" ? 0 : Number(count)), 0);
}

/** Bytes of all keys. */
export async function usedBytes(raw: Redis): Promise<number> {
  let sum = 0;
  for await (const keys of raw.scanStream({ count: 1000 }) as AsyncIterable<string[]>) {
    const pipeline = raw.pipeline();
    for (const key of keys) pipeline.memory("USAGE", key, "SAMPLES", 0);
    for (const [, size] of (await pipeline.exec()) ?? []) sum += Number(size);
  }
  return sum;
}
