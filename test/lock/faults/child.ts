import { Redis } from "ioredis";
import { Lock, redisStore } from "../../../src/entries/index.ts";

/**
 * One process of processes.slow.test.ts. As "hold" it takes the lock once, and prints the state of its hold on request.
 * Otherwise it takes the lock repeatedly and writes under its fence to a resource that checks fences: a write with a lower
 * fence than the last is refused. Each hold writes twice. A second write is marked if the holder could still prove its lease
 * afterwards.
 */
const WRITE = `
local last = tonumber(redis.call("GET", KEYS[1]) or 0)
local fence = tonumber(ARGV[1])
if fence < last then return 0 end
redis.call("SET", KEYS[1], ARGV[1])
redis.call("RPUSH", KEYS[2], ARGV[1] .. " " .. ARGV[2])
return 1`;

const [url = "", id = "", mode] = process.argv.slice(2);
const client = new Redis(url);
const lock = new Lock(redisStore(url, { deadline: 3000 }), "nightly");
const write = (fence: number, what: string) => client.eval(WRITE, 2, "last", "log", String(fence), `${id} ${what}`);

if (mode === "hold") {
  // It ends while the process stands still.
  const held = await new Lock(redisStore(url, { deadline: 20_000 }), "nightly", { watchdogLease: 2000 }).tryLock({
    wait: "20s",
  });
  // Nothing is asked between the message and the answer: what is known is known without the server.
  process.on("message", async () => {
    const known = { leftMs: held!.leftMs, isAborted: held!.signal.aborted };
    process.send?.({ ...known, written: await write(held!.fence, "late"), released: await held!.release() });
  });
  await write(held!.fence, "begin");
}

process.send?.("ready");
while (mode !== "hold") {
  const held = await lock.tryLock({ wait: "5s", lease: 300 });
  if (!held) continue;
  const begun = await write(held.fence, "begin");
  const ended = await write(held.fence, "end");
  // Proven after the replies: nobody else can have written in between, and none of it can have been refused.
  if (held.leftMs > 0) await client.rpush("proven", `${held.fence} ${begun} ${ended}`);
  await held.release();
}
