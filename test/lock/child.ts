import { Redis } from "ioredis";
import { Lock, redisStore } from "../../src/index.ts";

/**
 * One process of processes.test.ts: takes the lock again and again and writes under its fence, as a resource that
 * checks fences: a write with a lower fence than the last is refused. Each hold writes twice; a second write that the
 * holder could still prove to lie in its lease afterwards is marked.
 */
const WRITE = `
local last = tonumber(redis.call("GET", KEYS[1]) or 0)
local fence = tonumber(ARGV[1])
if fence < last then return 0 end
redis.call("SET", KEYS[1], ARGV[1])
redis.call("RPUSH", KEYS[2], ARGV[1] .. " " .. ARGV[2])
return 1`;

const [url = "", id = ""] = process.argv.slice(2);
const client = new Redis(url);
const lock = new Lock(redisStore(url, { deadlineMs: 3000 }), "nightly");
const write = (fence: number, what: string) => client.eval(WRITE, 2, "last", "log", String(fence), `${id} ${what}`);

process.send?.("ready");
for (;;) {
  const held = await lock.tryLock({ wait: "5s", lease: 300 });
  if (!held) continue;
  const begun = await write(held.fence, "begin");
  const ended = await write(held.fence, "end");
  // Proven after the replies: nobody else can have written in between, and none of it can have been refused.
  if (held.leftMs > 0) await client.rpush("proven", `${held.fence} ${begun} ${ended}`);
  await held.release();
}
