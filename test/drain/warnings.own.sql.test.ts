import { expect, test } from "vitest";
import { Counters } from "../../src/counters/counter/counters.ts";
import { DrainService } from "../../src/counters/drain/drain-service.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { STAGES } from "./stages.ts";

test("by default the process warns once for all stores; null and false turn that off", async () => {
  const server = await startRedis({ args: ["--appendonly", "no", "--maxmemory-policy", "allkeys-lru"] });
  const warnings: string[] = [];
  const onWarning = (warning: Error) => void (warning.name === "OrielWarning" && warnings.push(warning.message));
  process.on("warning", onWarning);
  try {
    for (const options of [{ onWarning: null }, { onWarning: false as const }, {}, {}]) {
      const store = redisStore(server.url, options);
      const counters = new Counters(store, "flow", { dimensions: ["site"], shards: 4 });
      for (let i = 0; i < 3; i++) await counters.add({ site: "a" });
      await new Promise((resolve) => setTimeout(resolve, 50)); // INFO travels behind
      expect(warnings).toHaveLength("onWarning" in options ? 0 : 2);
      await store.close();
    }
    expect(warnings.sort()).toEqual([
      expect.stringMatching(/^appendonly is no: /),
      expect.stringMatching(/^maxmemory-policy is allkeys-lru: /),
    ]);
  } finally {
    process.off("warning", onWarning);
    await server.stop();
  }
});

test.each([
  ["no", 1],
  ["yes", 0],
])("a drain warns of a server without an append-only file: appendonly %s", async (appendonly, reported) => {
  const server = await startRedis({ args: ["--appendonly", appendonly] });
  const stage = await STAGES.SQLite!();
  const warnings: string[] = [];
  const store = redisStore(server.url, { onWarning: (warning) => warnings.push(warning) });
  try {
    const counters = new Counters(store, "flow", { dimensions: ["site"], shards: 4 });
    const service = new DrainService({ counters, sink: stage.sink() });
    await service.start();
    await service.drainOnce();
    await service.drainOnce();
    await service.stop();
    expect(warnings).toEqual(Array(reported).fill(expect.stringMatching(/^appendonly is no: /)));
  } finally {
    await store.close();
    await stage.stop();
    await server.stop();
  }
});
