import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { DelayQueue, redisStore } from "../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { command } from "./command.ts";

let server: RedisServer;
let store: ReturnType<typeof redisStore>;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  store = redisStore(server.url);
});
afterAll(async () => {
  await store?.close();
  await server?.stop();
});

const run = (what: string, ...more: string[]) => command(["queue", what, "sms", "--redis", server.url, ...more]);

describe("the commands on a queue with waiting, due and dead messages", () => {
  let sms: DelayQueue;
  beforeAll(async () => {
    sms = new DelayQueue(store, "sms", { attempts: 1 });
    await sms.add({ to: "later" }, { id: "later", delay: "10m" });
    for (const id of ["a", "b", "c"]) await sms.add({ to: id }, { id });
    for (const claimed of await sms.claim({ limit: 3 }))
      await sms.nack(claimed, { error: new Error("no\u001b[31m route") });
    await sms.add(Uint8Array.of(1, 2, 255), { id: "bytes" });
  });

  test("counts", async () => {
    expect(await run("counts")).toEqual({ status: 0, stdout: "waiting 1 · due 1 · claimed 0 · dead 3\n", stderr: "" });
    expect(JSON.parse((await run("counts", "--json")).stdout)).toEqual(await sms.counts());
  });

  test("peek lists the due messages and the next ones", async () => {
    const { stdout } = await run("peek", "--json");
    const listed = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(listed.map(({ id, payload }) => [id, payload])).toEqual([
      ["bytes", { base64: "AQL/" }],
      ["later", { to: "later" }],
    ]);
    const table = (await run("peek", "--limit", "1")).stdout;
    expect(table).toContain("bytes");
    expect(table).not.toContain("later");
  });

  test("pause stops claims until resume", async () => {
    expect((await run("pause")).stdout).toBe("paused: workers claim no message\n");
    expect(await sms.claim({ limit: 1 })).toEqual([]);
    expect((await run("counts")).stdout).toContain("· paused");
    expect(JSON.parse((await run("resume", "--json")).stdout)).toEqual({ isPaused: false });
    expect((await sms.counts()).isPaused).toBe(false);
  });

  test("dead lists the reasons without control characters", async () => {
    const { stdout } = await run("dead");
    expect(stdout.match(/Error: no\\x1b\[31m route/g)).toHaveLength(3);
    expect(stdout).not.toContain("\u001b");
    expect((await run("dead", "--json", "--limit", "2")).stdout.trim().split("\n")).toHaveLength(2);
  });

  test("bytes that are no message are marked", async () => {
    const client = new Redis(server.url);
    const key = (await client.keys("*sms*:messages"))[0]!;
    const stored = await client.hgetBuffer(key, ":later");
    await client.hset(key, ":later", Buffer.concat([stored!.subarray(0, 38), Buffer.from("{\u001b[31m")]));
    expect((await run("peek")).stdout).toMatch(/later .*CORRUPT: its payload is no JSON/);
    const [, later] = (await run("peek", "--json")).stdout.trim().split("\n");
    expect(JSON.parse(later!)).toMatchObject({ id: "later", corrupt: { why: "its payload is no JSON" } });
    await client.hset(key, ":later", stored!);
    client.disconnect();
  });

  test("redrive moves some messages back, or all", async () => {
    expect((await run("redrive", "--ids", "b")).stdout).toBe("1 redriven\n");
    expect(await sms.counts()).toMatchObject({ dead: 2, due: 2 });
    expect((await run("redrive", "--json")).stdout).toBe('{"redriven":2}\n');
    expect((await run("dead")).stdout).toBe("none\n");
    await sms.pause();
    expect((await run("counts")).stdout).toBe("waiting 1 · due 4 · claimed 0 · dead 0 · paused\n");
  });
});

describe("wrong usage", () => {
  beforeEach(async () => {
    await new DelayQueue(store, "sharded", { shards: 2 }).add(1);
  });

  test.each([
    ["a word that is none", ["queue", "count", "sms"], /choices|choose|Allowed/],
    ["other shards", ["queue", "peek", "sharded", "--shards", "3"], /MISMATCH/],
    ["no number of shards", ["queue", "peek", "sms", "--shards", "many"], /shards/],
    ["a limit of none", ["queue", "peek", "sms", "--limit", "0"], /limit/],
    ["ids that are none", ["queue", "redrive", "sms", "--ids", "a,,b"], /--ids/],
  ])("%s: one line on stderr, status 2", async (_what, args, why) => {
    const { status, stdout, stderr } = await command([...args, "--redis", server.url]);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(why);
    expect(stderr).toMatch(/^oriel: [^\n]+\n(?:see \S+\n)?$/);
  });

  test("an unreachable server is reported", async () => {
    const { status, stderr } = await command(["queue", "counts", "sms", "--redis", "redis://127.0.0.1:1"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/UNAVAILABLE|DEADLINE/);
  });
});
