import { Redis } from "ioredis";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { httpStore, memoryStore, type OrielError, redisStore, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { type RestServer, startRest } from "../../harness/servers/rest-server.ts";

const HOUR_MS = 3_600_000;
const OPTIONS = { retention: "1m", values: "float64" } as const;

let server: RedisServer;
let proxy: FaultProxy;
let rest: RestServer;
const ends: (() => unknown)[] = [];

beforeAll(async () => {
  server = await startRedis({ tcp: true });
  proxy = await startProxy(server.port);
  rest = await startRest(server.url);
});
afterAll(async () => {
  for (const end of ends) await end();
  await rest.stop();
  await proxy.close();
  await server.stop();
});

const stores: Record<string, () => Store> = {
  memory: () => memoryStore(),
  ioredis: () => {
    const client = new Redis(proxy.url);
    client.on("error", () => {});
    ends.push(() => client.disconnect());
    return redisStore(client);
  },
  "node-redis": () => {
    const client = createClient({ url: proxy.url });
    client.on("error", () => {});
    ends.push(() => client.destroy());
    return redisStore(client);
  },
  http: () => httpStore({ url: rest.url, token: rest.token }),
};

/** The next answer is lost after the step was run. */
const losses: Record<string, () => void> = {
  ioredis: () => proxy.dropReplies(1),
  "node-redis": () => proxy.dropReplies(1),
  http: () => {
    rest.faultOf = () => {
      rest.faultOf = undefined;
      return { cut: "after it was run" };
    };
  },
};

const refusals = {
  LATE: -HOUR_MS,
  EARLY: HOUR_MS,
} as const;

/** By what was refused and whether an answer was lost before; fetch may send a request again by itself. */
const expectedOf = (name: string, isLost: boolean) => (isLost || name === "http" ? "unknown" : "no");

describe.each(Object.keys(stores))("events refused by %s", (name) => {
  test.each(Object.entries(refusals))("%s state whether another copy may be stored", async (code, byMs) => {
    const store = stores[name]!();
    const series = new Series(store, `${name} ${code}`, OPTIONS);
    await series.record(1, { at: Date.now() });
    for (const isLost of losses[name] ? [false, true, false] : [false]) {
      if (isLost) losses[name]!();
      const at = Date.now() + byMs;
      const error = await series.record(2, { at }).then(
        () => undefined,
        (reason: OrielError) => reason,
      );
      expect(error).toMatchObject({ code, applied: expectedOf(name, isLost) });
      const many = await series.recordMany([3, 4], { at: [at, at] }).catch((reason: OrielError) => reason);
      expect(many).toMatchObject({ code, applied: expectedOf(name, false) });
    }
    expect(await series.values()).toEqual(Float64Array.of(1));
    await store.close();
  });

  test("of a call that was partly written are not reported as absent", async () => {
    const store = stores[name]!();
    const series = new Series(store, `${name} part`, OPTIONS);
    const nowMs = Date.now();
    // 2^32 ms and more apart: two frames, of which one is refused.
    const at = [nowMs, nowMs - 2 ** 32 - 1];
    const error = await series.recordMany([1, 2], { at }).catch((reason: OrielError) => reason);
    expect(error).toMatchObject({ code: "LATE", applied: "unknown" });
    expect(await series.values()).toEqual(Float64Array.of(1));
    await store.close();
  });
});
