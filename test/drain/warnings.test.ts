import { expect, test } from "vitest";
import { Counters } from "../../src/counter/counters.ts";
import { DrainService } from "../../src/drain/drain-service.ts";
import { redisStore } from "../../src/store/redis.ts";
import { startRedis } from "../harness/redis-server.ts";
import { STAGES } from "./stages.ts";

test.each([
  ["no", 1],
  ["yes", 0],
])("who drains is told of a server without a file: appendonly %s", async (appendonly, told) => {
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
    expect(warnings).toEqual(Array(told).fill(expect.stringMatching(/^appendonly is no: /)));
  } finally {
    await store.close();
    await stage.stop();
    await server.stop();
  }
});
