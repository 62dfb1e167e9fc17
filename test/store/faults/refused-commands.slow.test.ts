import { Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { findValkey } from "../../../scripts/find-programs.mjs";
import { Counters, DelayQueue, Limiter, Lock, redisStore, Series, slidingWindow } from "../../../src/entries/index.ts";
import { errorOfReply } from "../../../src/store/refusal.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";

/** What servers say of a command or key that a script's user may not use. */
const TEXTS = {
  "Redis 7.0": [
    "ERR The user executing the script can't run this command or subcommand",
    "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments",
  ],
  "Redis 7.2, Valkey 8": [
    "ERR ACL failure in script: User default has no permissions to run the 'append' command",
    "ERR ACL failure in script: No permissions to access a key",
  ],
  others: ["NOPERM User default has no permissions to run the 'append' command"],
};

test.each(Object.entries(TEXTS))(
  "a command that an ACL rule forbids inside a script damages no value: %s",
  (_, texts) => {
    for (const text of texts)
      for (const [code, applied] of [
        ["ERROR", "unknown"],
        ["UNDONE", "no"],
      ] as const) {
        const error = errorOfReply(["k"], code, text, false);
        expect(error).toMatchObject({ code: "UNAVAILABLE", transient: false, applied });
        expect(error.message).toContain("the user's ACL rules do not allow this");
        expect(errorOfReply(["k"], code, text, true).applied).toBe("unknown");
      }
  },
);

const valkey = findValkey();
describe.each([["the default server", undefined] as const, ...(valkey ? [["Valkey", valkey] as const] : [])])(
  "%s",
  (_, path) => {
    test("forbids a script's write by an ACL rule, and the errors of structures name it", async () => {
      const server = await startRedis(path ? { server: path } : {});
      const client = new Redis(server.url);
      await client.call("ACL", "SETUSER", "default", "-append", "-set", "-hincrby", "-hset");
      const store = redisStore(client);
      const expected = { code: "UNAVAILABLE", message: expect.stringContaining("ACL rules do not allow this") };
      await expect(new Series(store, "s").record(1)).rejects.toMatchObject({ ...expected, applied: "no" });
      await expect(new Counters(store, "c", { dimensions: ["d"] }).add({ d: "1" })).rejects.toMatchObject(expected);
      await store.close();
      client.disconnect();
      await server.stop();
    });
  },
);

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
    // A lock that is free is taken without GET.
    Lock: async () => (await new Lock(store, "k").isHeld()) || new Lock(store, "k").tryLock(),
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
