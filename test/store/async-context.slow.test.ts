import { AsyncLocalStorage } from "node:async_hooks";
import { afterAll, describe, expect, test } from "vitest";
import {
  Counters,
  DelayQueue,
  DrainService,
  httpStore,
  memoryStore,
  redisStore,
  type Store,
} from "../../src/entries/index.ts";
import type { WatchedStore } from "../../src/store/contract.ts";
import { TableSink } from "../fuzz/table-sink.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { startRest } from "../harness/servers/rest-server.ts";
import { until } from "../harness/until.ts";

const owner = new AsyncLocalStorage<string>();
const servers: { stop(): unknown }[] = [];
afterAll(async () => {
  for (const server of servers.reverse()) await server.stop();
});

const STORES: Record<string, () => Promise<{ store: WatchedStore; stop(): Promise<unknown> | undefined }>> = {
  async memory() {
    return { store: memoryStore() as never, stop: () => undefined };
  },
  async Redis() {
    const server = await startRedis({ tcp: true });
    servers.push(server);
    return { store: redisStore(server.url, { onWarning: null }), stop: () => server.stop() };
  },
  async HTTP() {
    const server = await startRedis({ tcp: true });
    const rest = await startRest(server.url);
    servers.push(server, { stop: () => rest.stop() });
    return { store: httpStore({ url: rest.url, token: rest.token, onWarning: null }), stop: () => server.stop() };
  },
};

describe.each(Object.keys(STORES))(
  "over %s, a callback runs in the async context in which it was registered",
  (name) => {
    test("a worker's handler and its listeners, whatever calls claim and settle its messages", async () => {
      const { store } = await STORES[name]!();
      const seen: [string, string | undefined][] = [];
      const note = (what: string) => () => void seen.push([what, owner.getStore()]);
      const queue = new DelayQueue(store, "q");
      const worker = owner.run("worker", () => queue.process(note("handler")));
      owner.run("listener", () => {
        worker.on("started", note("started"));
        worker.on("completed", note("completed"));
      });
      for (const caller of ["a", "b", "c"]) await owner.run(caller, () => queue.add(caller));
      await until("all are done", () => seen.length === 9);
      const expected = { handler: "worker", started: "listener", completed: "listener" };
      for (const [what, context] of seen) expect([what, context]).toEqual([what, expected[what as "handler"]]);
      await worker.close();
      await store.close();
    });

    test("the listeners of a drain, and what follows a call", async () => {
      const { store } = await STORES[name]!();
      const counters = new Counters(store as Store, "c", { dimensions: ["d"], shards: 1 });
      const drain = owner.run("drain", () => new DrainService({ counters, sink: new TableSink() }));
      const contexts: unknown[] = [];
      owner.run("listener", () => drain.on("cycle", () => contexts.push(owner.getStore())));
      // Equal calls of a turn share a request, and each goes on in its own context.
      await Promise.all(
        ["a", "b"].map((caller) =>
          owner.run(caller, async () => {
            await counters.add({ d: "x" });
            expect(owner.getStore()).toBe(caller);
          }),
        ),
      );
      await owner.run("caller", () => drain.drainOnce());
      expect(contexts).toEqual(["listener"]);
      await counters.close();
      await store.close();
    });

    test.runIf(name !== "memory")("the store's own events", async () => {
      const { store, stop } = await STORES[name]!();
      const contexts: unknown[] = [];
      owner.run("listener", () => store.on("down", () => contexts.push(owner.getStore())));
      const queue = new DelayQueue(store, "h");
      await owner.run("caller", () => queue.counts());
      await stop();
      await until("it is down", async () => {
        await owner.run("caller", () => queue.counts()).catch(() => {});
        return contexts.length > 0;
      });
      expect(new Set(contexts)).toEqual(new Set(["listener"]));
      await store.close();
    });
  },
);
