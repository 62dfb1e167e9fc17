import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { Lock, redisStore, Semaphore } from "../../src/entries/index.ts";
import type { Script } from "../../src/store/contract.ts";

/**
 * One process of kills.slow.test.ts: half of its callers want a lock, the others a permit, and again when they have had it. After the
 * message "end" they are served once more.
 */
const [url = "", number = "", callers = "", limit = ""] = process.argv.slice(2);
const LEASE_MS = 1500;

const client = new Redis(url);
const scripts: Record<string, Script & { leading?: () => number[] }> = JSON.parse((await client.get("scripts"))!);
for (const script of Object.values(scripts)) script.leading = () => [Number(number)];
const store = redisStore(url, {
  deadline: 20_000,
  registry: false,
  scriptOf: ({ name }) => scripts[name]!,
});
const lock = new Lock(store, "nightly");
const semaphore = new Semaphore(store, "exports", { limit: Number(limit) });
const options = { wait: "1h", lease: LEASE_MS } as const;

let isOver = false;
let served = 0;
process.on("message", () => {
  isOver = true;
});
const use = async (acquire: () => Promise<{ release(): Promise<boolean> } | null>, workMs: number) => {
  for (let isLast = false; !isLast; ) {
    isLast = isOver;
    const held = await acquire();
    if (!held) throw new Error("not served within an hour");
    served++;
    await pause(workMs);
    await held.release();
  }
};
const all = Array.from({ length: Number(callers) }, () => [
  use(() => lock.tryLock(options), 2),
  use(() => semaphore.acquire(options), 30),
]);
process.send?.("ready");
await Promise.all(all.flat());
process.send?.(served);
await store.close();
client.disconnect();
process.disconnect?.();
