import { describe, expect, test } from "vitest";
import { freePort, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import { input, RedisStage } from "../contract/redis-stage.ts";
import { append, tally } from "../ops/operations.ts";

const stage = new RedisStage();

describe("failing servers", () => {
  test("a killed connection is opened again", async () => {
    const store = stage.open();
    await store.run(append, store.keyOf("k"), input("x"));
    await stage.raw.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    expect((await store.run(append, store.keyOf("k"), input("y"))).length).toBe(2);
  });

  test("a server that stands still: calls end at their deadline, later ones succeed", async () => {
    const store = stage.open({ deadline: 150 });
    // A call that it sends at once may have been applied, however slow the machine is.
    await until("it is connected", async () => (await store.run(tally, store.keyOf("t"), "0000")) > 0);
    await until("its script is loaded", async () => (await store.run(append, store.keyOf("k"), input("x"))).length > 0);
    stage.server.pause();
    const results = await Promise.allSettled([
      store.run(append, store.keyOf("k"), input("y")),
      store.run(tally, store.keyOf("t"), "0001"),
    ]);
    stage.server.resume();
    for (const result of results)
      expect(result).toMatchObject({ reason: { code: "DEADLINE", applied: "unknown", transient: true } });
    await until("it is served", async () => (await store.run(tally, store.keyOf("t"), "0001")) === 2);
    expect(await stage.open().run(tally, store.keyOf("t"), "0002")).toBe(3);
  });

  test("a server out of memory: calls that need memory are OVERLOADED and not applied", async () => {
    const store = stage.open();
    await store.run(append, store.keyOf("k"), input("x"));
    await stage.raw.config("SET", "maxmemory", "1");
    await expect(store.run(append, store.keyOf("k"), input("y"))).rejects.toMatchObject({
      code: "OVERLOADED",
      applied: "no",
      transient: true,
    });
    await stage.raw.config("SET", "maxmemory", "0");
    expect((await store.run(append, store.keyOf("k"), input("z"))).length).toBe(2);
  });

  test("a server that is read-only for a while is tried again", async () => {
    const store = stage.open({ deadline: 60_000 });
    await store.run(append, store.keyOf("k"), input("x"));
    await stage.raw.replicaof("127.0.0.1", "1");
    await stage.raw.config("SET", "replica-serve-stale-data", "yes");
    const run = store.run(append, store.keyOf("k"), input("y"));
    await until(
      "it was refused",
      async () => (await stage.callsOf("evalsha")) > 1 || /READONLY/.test(await stage.raw.info("errorstats")),
    );
    await stage.raw.replicaof("NO", "ONE");
    expect((await run).length).toBe(2);
  });

  test("a server that starts later: UNAVAILABLE within the deadline with the cause, then calls succeed", async () => {
    const port = await freePort();
    const store = stage.open({ deadline: 200 }, `redis://127.0.0.1:${port}`);
    await expect(store.run(append, store.keyOf("k"), input("x"))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      applied: "no",
      transient: true,
      cause: { code: "ECONNREFUSED" },
    });
    const late = await startRedis({ tcp: port });
    try {
      await until("it is served", async () => (await store.run(tally, store.keyOf("t"), "0001")) > 0);
      const patient = stage.open({}, `redis://127.0.0.1:${port}`);
      expect((await patient.run(append, store.keyOf("k"), input("x"))).length).toBe(1);
      await Promise.all([store.close(), patient.close()]);
    } finally {
      await late.stop();
    }
  });

  test("too many waiting bytes are refused", async () => {
    const store = stage.open({ maxPendingBytes: 1000 });
    const bytes = Buffer.alloc(2000);
    const first = store.run(append, store.keyOf("k"), { ...input(""), bytes });
    await expect(store.run(append, store.keyOf("k"), input("x"))).rejects.toMatchObject({ code: "OVERLOADED" });
    await first;
    expect((await store.run(append, store.keyOf("k"), input("x"))).length).toBe(2001);
  });
});
