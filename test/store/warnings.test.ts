import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Counters, httpStore, redisStore } from "../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { type RestServer, startRest } from "../harness/servers/rest-server.ts";
import { until } from "../harness/until.ts";
import { clients } from "./contract/clients.ts";
import { tally } from "./ops/operations.ts";

let server: RedisServer;
let raw: Redis;
beforeAll(async () => {
  server = await startRedis();
  raw = new Redis(server.url);
});
afterAll(async () => {
  raw?.disconnect();
  await server?.stop();
});

const infoCalls = async () => Number(/cmdstat_info:calls=(\d+)/.exec(await raw.info("commandstats"))?.[1] ?? 0);

describe.each(Object.entries(clients))("a store over %s", (_name, connect) => {
  async function warningsUnder(policy: string, isWanted = true): Promise<string[]> {
    await raw.config("SET", "maxmemory-policy", policy);
    const warnings: string[] = [];
    const before = await infoCalls();
    const { client, end } = connect(server.url);
    const store = redisStore(client, isWanted ? { onWarning: (warning) => warnings.push(warning) } : {});
    await store.run(tally, store.keyOf("k"), "0001");
    // Each look of ours is counted too, from the second on.
    let looks = 0;
    if (isWanted) await until("the policy is read", async () => (await infoCalls()) > before + looks++ + 1);
    await store.run(tally, store.keyOf("k"), "0001");
    await store.close();
    end();
    return warnings;
  }

  test("reports a policy that evicts, once", async () => {
    expect(await warningsUnder("allkeys-lru")).toEqual([
      expect.stringMatching(/^maxmemory-policy is allkeys-lru: .*should be noeviction$/),
    ]);
    expect(await warningsUnder("volatile-ttl")).toHaveLength(1);
  });

  test("says nothing under noeviction, nor without a listener", async () => {
    expect(await warningsUnder("noeviction")).toEqual([]);
    expect(await warningsUnder("allkeys-lru", false)).toEqual([]);
  });

  test.each(["no", "yes"])(
    "checks for the append-only file once when counts are added: appendonly %s",
    async (appendonly) => {
      await raw.config("SET", "maxmemory-policy", "noeviction");
      await raw.config("SET", "appendonly", appendonly);
      const monitor = await raw.monitor();
      const asked: string[] = [];
      monitor.on("monitor", (_time: string, words: string[]) => asked.push(words.join(" ").toLowerCase()));
      const asks = () => asked.filter((words) => words === "info persistence").length;
      const { client, end } = connect(server.url);
      const warnings: string[] = [];
      const store = redisStore(client, { onWarning: (warning) => warnings.push(warning) });
      await store.run(tally, store.keyOf("k"), "0001");
      const flow = new Counters(store, "flow", { dimensions: ["site"], shards: 4 });
      await until("the policy is read", () => asked.includes("info memory"));
      expect([asks(), warnings]).toEqual([0, []]);
      for (const site of "abcdefgh") await flow.add({ site });
      await until("the file is asked for", () => asks() > 0);
      for (const site of "abcdefgh") await flow.add({ site });
      await store.close();
      end();
      monitor.disconnect();
      expect(asks()).toBe(1);
      const warning = expect.stringMatching(/^appendonly is no: .*should be yes$/);
      expect(warnings).toEqual(appendonly === "no" ? [warning] : []);
    },
  );

  test("continues if INFO is not permitted", async () => {
    await raw.call("ACL", "SETUSER", "default", "-info");
    const { client, end } = connect(server.url);
    const warnings: string[] = [];
    const store = redisStore(client, { onWarning: (warning) => warnings.push(warning) });
    expect(await store.run(tally, store.keyOf("acl"), "0001")).toBe(1);
    await raw.call("ACL", "SETUSER", "default", "+info");
    expect(warnings).toEqual([]);
    await store.close();
    end();
  });
});

describe("stores over HTTP, made for each request", () => {
  let rest: RestServer;
  beforeAll(async () => {
    rest = await startRest(server.url);
    await raw.config("SET", "maxmemory-policy", "allkeys-lru");
  });
  afterAll(async () => {
    await raw?.config("SET", "maxmemory-policy", "noeviction");
    await rest?.stop();
  });
  const asks = () => rest.requests.flatMap(({ commands }) => commands).filter(([name]) => name === "INFO").length;
  const request = async (warnings: string[]) => {
    const store = httpStore({ url: rest.url, token: rest.token, onWarning: (warning) => warnings.push(warning) });
    await store.run(tally, store.keyOf("k"), "0001");
    await store.close();
  };

  test("ask one server once, and again only if there was no answer", async () => {
    const warnings: string[] = [];
    rest.faultOf = (commands) => (commands.some(([name]) => name === "INFO") ? { status: 500 } : undefined);
    await request(warnings).catch(() => {});
    const unanswered = asks();
    rest.faultOf = undefined;
    await request(warnings);
    await until("the policy is read", () => warnings.length > 0);
    for (let i = 0; i < 5; i++) await request(warnings);
    expect(warnings).toHaveLength(1);
    expect([unanswered, asks()]).toEqual([1, 2]);
  });
});
