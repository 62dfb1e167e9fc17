import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { atEnd } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { Table } from "../simulator/table.ts";
import { AT, Load } from "./load.ts";
import { drainAll } from "./model-drain.ts";
import { open, SHARDS } from "./stage.ts";

test.each(["eval", "functions"] as const)(
  "with %s and full memory: adds are refused as not counted, a drain makes room, and adds continue",
  async (scripting) => {
    const server = await startRedis({ args: ["--maxmemory-policy", "noeviction"] });
    atEnd(() => server.stop());
    const raw = new Redis(server.url);
    atEnd(() => raw.disconnect());
    const { store, flow } = open(server.url, { scripting });
    const load = new Load();
    const table = new Table();
    // A library that is not there yet cannot be loaded into full memory; scripts can.
    await load.add(flow, "first");
    await drainAll(store, SHARDS, table);
    for (let i = 0; i < 20; i++)
      await Promise.all(Array.from({ length: 1000 }, (_, j) => load.add(flow, `wide${i * 1000 + j}`.padEnd(200, "x"))));
    const used = Number(/used_memory:(\d+)/.exec(await raw.info("memory"))![1]);
    await raw.config("SET", "maxmemory", used - 1000);
    await expect(flow.add({ id: "more" }, { at: AT })).rejects.toMatchObject({ code: "OVERLOADED", applied: "no" });
    await load.check(flow, table);
    expect(await drainAll(store, SHARDS, table)).toBe(20_000n);
    const left = Number(/used_memory:(\d+)/.exec(await raw.info("memory"))![1]);
    expect(left).toBeLessThan(used / 2);
    for (let i = 0; i < 10; i++) await load.add(flow, "more");
    expect(load.errors).toEqual([]);
    await load.check(flow, table);
    await flow.close();
  },
);
