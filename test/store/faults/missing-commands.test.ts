import { expect, test } from "vitest";
import { Counters, DelayQueue, Limiter, Lock, redisStore, Series, slidingWindow } from "../../../src/entries/index.ts";
import { errorOfReply } from "../../../src/store/refusal.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";

test.each([
  ["GET", ["Lock"]],
  ["SET", ["Lock", "Limiter", "Series"]],
  ["GETRANGE", ["Limiter", "Series"]],
  ["HSET", ["Counters", "DelayQueue"]],
  ["HMGET", ["Counters", "DelayQueue"]],
  ["TIME", ["Lock", "Limiter", "Series", "Counters", "DelayQueue"]],
])("a server without %s: no value is called damaged", async (name, failing) => {
  const server = await startRedis({ args: ["--rename-command", name, ""] });
  const store = redisStore(server.url, { onWarning: null });
  const calls: Record<string, () => Promise<unknown>> = {
    Lock: () => new Lock(store, "k").tryLock(),
    Limiter: () => new Limiter(store, [slidingWindow({ limit: 1, span: "1m" })], { name: "l" }).take("a"),
    Series: () => new Series(store, "s").record(1),
    Counters: () => new Counters(store, "c", { dimensions: ["a"], shards: 1 }).add({ a: "1" }),
    DelayQueue: () => new DelayQueue(store, "q").add("x"),
  };
  try {
    for (const structure of failing) {
      const error = await calls[structure]!().then(
        () => expect.fail(`${structure} was answered`),
        (reason) => reason,
      );
      expect(error, structure).toMatchObject({ code: "UNAVAILABLE", transient: false });
      expect(error.message).toMatch(/: the server does not know a command \(ERR Unknown .*\); use Redis 7 or later/);
    }
  } finally {
    await store.close();
    await server.stop();
  }
});

test.each([
  "ERR Unknown Redis command called from script",
  "ERR Unknown Valkey command called from script",
  "ERR unknown command 'getex', with args beginning with: ",
  "ERR This Redis command is not allowed from script",
])("%s is the server's refusal, whatever the step took it for", (text) => {
  for (const [code, applied] of [
    ["ERROR", "unknown"],
    ["UNDONE", "no"],
    ["CORRUPT", "no"],
  ] as const)
    for (const reply of [text, `the value of the key "k" is damaged: ${text}`])
      if (code === "CORRUPT" || reply === text)
        expect(errorOfReply(["k"], code, reply, false)).toMatchObject({
          code: "UNAVAILABLE",
          transient: false,
          applied,
        });
});
