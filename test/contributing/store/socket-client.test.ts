import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Store } from "../../../src/store/contract.ts";
import { type FaultProxy, startProxy } from "../../harness/network/proxy.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { onServers } from "../../store/contract/on-servers.ts";
import { storeSuite } from "../../store/contract/suite.ts";
import { append, tally } from "../../store/ops/operations.ts";
import { socketStore } from "./socket-client.ts";

storeSuite(
  "redis, a plain socket",
  onServers(async () => {
    const server = await startRedis({ tcp: true });
    const raw = new Redis(server.url);
    return {
      storeOf: (options) => socketStore(server.port, "127.0.0.1", options),
      end() {},
      raw,
      flush: () => raw.flushall(),
      stop: () => server.stop(),
    };
  }),
);

let proxy: FaultProxy;
let store: Store;
let stop: () => Promise<void>;
beforeAll(async () => {
  const server = await startRedis({ tcp: true });
  proxy = await startProxy(server.port);
  store = socketStore(Number(new URL(proxy.url).port), "127.0.0.1");
  stop = async () => {
    await store.close();
    await proxy.close();
    await server.stop();
  };
});
afterAll(() => stop());

test("after a lost reply a repeatable call is sent again and counts once; another rejects as maybe applied", async () => {
  const key = store.keyOf("tallied");
  expect(await store.run(tally, key, "0001")).toBe(1);
  proxy.dropReplies(1);
  expect(await store.run(tally, key, "0002")).toBe(2);
  const input = { bytes: Buffer.from("x"), maxBytes: 9, lifetimeMs: 0 };
  const other = store.keyOf("appended");
  await store.run(append, other, input);
  proxy.dropReplies(1);
  await expect(store.run(append, other, input)).rejects.toMatchObject({ code: "UNAVAILABLE", applied: "unknown" });
});
