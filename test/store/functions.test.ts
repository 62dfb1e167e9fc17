import { Cluster, Redis } from "ioredis";
import { describe, expect, test } from "vitest";
import { redisStore } from "../../src/store/redis/redis.ts";
import { functions, scripts } from "../../src/store/redis/scripting.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { startReplicated } from "../harness/servers/replicas.ts";
import { until } from "../harness/until.ts";
import { clients, connected } from "./contract/clients.ts";
import { input, RedisStage } from "./contract/redis-stage.ts";
import { append, remove, tally } from "./ops/operations.ts";

const stage = new RedisStage();
const libraries = async (client: Redis) =>
  ((await client.call("FUNCTION", "LIST")) as unknown[][]).map((each) => String(each[1])).sort();

describe("steps as functions", () => {
  test("are loaded once, each as a library, and again after FUNCTION FLUSH", async () => {
    const store = stage.open({ scripting: "functions" });
    const key = store.keyOf("k");
    await store.run(append, key, input("0001"));
    await store.run(append, key, input("0002"));
    expect(await store.run(tally, key, "0003")).toBe(3);
    expect(await libraries(stage.raw)).toEqual([append, tally].map((each) => functions.nameOf(each.script)).sort());
    expect([await stage.callsOf("fcall"), await stage.callsOf("evalsha")]).toEqual([3, 0]);
    await stage.raw.call("FUNCTION", "FLUSH");
    const runs = ["0004", "0005"].map((text) => store.run(append, key, input(text)));
    expect((await Promise.all(runs)).map(({ length }) => length)).toEqual([16, 20]);
  });

  test("keep nothing of a call, and do not change the libraries of another version", async () => {
    const [store, other] = [stage.open({ scripting: "functions" }), stage.open()];
    const key = store.keyOf("k");
    expect(await store.run(append, key, input("0001"))).toMatchObject({ length: 4 });
    expect(await other.run(append, key, input("0002"))).toMatchObject({ length: 8 });
    expect(await store.run(append, store.keyOf("other"), input("1"))).toMatchObject({ length: 1 });
    expect(Buffer.from(await store.run(remove, key, undefined)).toString()).toBe("00010002");
  });

  test("are replicated, so a promoted replica has them", async () => {
    const { primary, replicas, stop } = await startReplicated(1);
    const store = redisStore(primary.url, { scripting: "functions" });
    await store.run(append, store.keyOf("k"), input("x"));
    const replica = new Redis(replicas[0]!.url);
    await until("the replica has it", async () => (await libraries(replica)).length === 1);
    replica.disconnect();
    await store.close();
    await stop();
  });

  test("are on every primary of a cluster, and on one that has lost them", async () => {
    const cluster = await startCluster(3, 0);
    const client = new Cluster([...cluster.urls]);
    const store = redisStore(client, { scripting: "functions" });
    const names = Array.from({ length: 40 }, (_, i) => `k${i}`);
    const appendAll = () => Promise.all(names.map((name) => store.run(append, store.keyOf(name), input("x"))));
    await appendAll();
    await client.nodes("master")[0]!.call("FUNCTION", "FLUSH");
    expect((await appendAll()).map(({ length }) => length)).toEqual(names.map(() => 2));
    await store.close();
    client.disconnect();
    await cluster.stop();
  });
});

describe.each(["eval", "functions"] as const)("steps that %s", (scripting) => {
  const missing = () => stage.raw.call(scripting === "eval" ? "SCRIPT" : "FUNCTION", "FLUSH");
  const connections = Object.entries(clients).map(([name, connect]) => [name, connect] as const);

  test.each(connections)("the server refuses to load reject at once with its reason, %s", async (_name, connect) => {
    const { storeOf, end } = connected(connect(stage.server.url));
    const store = storeOf({ scripting, deadline: 60_000 });
    const broken = { ...append, script: { text: "#!lua\nlocal call = nothing.call\nend\n-- each call\n" } };
    const runs = [1, 2, 3].map(() => store.run(broken, store.keyOf("k"), input("x")));
    for (const run of runs)
      await expect(run).rejects.toMatchObject({
        code: "UNAVAILABLE",
        transient: false,
        applied: "no",
        message: expect.stringMatching(/refused to load the script .*(compiling|registering)/),
      });
    await store.close();
    await end();
  });

  test.each(connections)(
    "were flushed from a full server can free memory, but not allocate, %s",
    async (_name, connect) => {
      const { storeOf, end } = connected(connect(stage.server.url));
      const store = storeOf({ scripting });
      const key = store.keyOf("k");
      await store.run(append, key, input("0001"));
      await stage.raw.config("SET", "maxmemory", "1");
      try {
        await missing();
        expect(Buffer.from(await store.run(remove, key, undefined)).toString()).toBe("0001");
        await missing();
        const grown = store.run(append, key, input("0002"));
        await expect(grown).rejects.toMatchObject({ code: "OVERLOADED", transient: true, applied: "no" });
      } finally {
        await stage.raw.config("SET", "maxmemory", "0");
      }
      expect(await store.run(append, key, input("0003"))).toMatchObject({ length: 4 });
      await store.close();
      await end();
    },
  );

  test("are missing on a replica wait for its promotion", async () => {
    const store = stage.open({ scripting, deadline: 20_000 });
    await store.run(append, store.keyOf("k"), input("0001"));
    await missing();
    await stage.raw.replicaof("127.0.0.1", 1);
    const run = store.run(tally, store.keyOf("k"), "0002");
    try {
      await until("the replica refuses it", async () => /READONLY:count=/.test(await stage.raw.info("errorstats")));
    } finally {
      await stage.raw.replicaof("NO", "ONE");
    }
    expect(await run).toBe(2);
  });
});

describe("the option scripting", () => {
  test("refuses an unknown way", () => {
    expect(() => redisStore("redis://127.0.0.1", { scripting: "modules" as never })).toThrow('"eval" or "functions"');
    expect(scripts.nameOf(append.script)).toMatch(/^[0-9a-f]{40}$/);
  });
});
