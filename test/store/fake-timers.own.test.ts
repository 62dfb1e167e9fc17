// Programs whose tests fake the timers, also before oriel is loaded: a store works again once the real timers are back.
// Vitest cannot fake nextTick in a child process.
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { type RestServer, startRest } from "../harness/servers/rest-server.ts";

let server: RedisServer;
let rest: RestServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  rest = await startRest(server.url);
});
afterAll(async () => {
  await rest?.stop();
  await server?.stop();
});
afterEach(() => {
  vi.useRealTimers();
  vi.resetModules();
});

const FAKED = {
  "the default": undefined,
  "setImmediate and queueMicrotask": ["setImmediate", "queueMicrotask"],
  all: [
    ...["setTimeout", "clearTimeout", "setInterval", "clearInterval", "setImmediate", "clearImmediate"],
    ...["queueMicrotask", "Date", "performance"],
  ],
} as const;

test.each(Object.entries(FAKED))("fakes of %s, before the import and during calls", async (faked, toFake) => {
  vi.useFakeTimers(toFake && { toFake: [...toFake] as never });
  const { fixedWindow, httpStore, Limiter, memoryStore, redisStore, slidingWindow } = await import(
    "../../src/entries/index.ts"
  );
  const stores = {
    memory: memoryStore(),
    Redis: redisStore(server.url, { registry: false }),
    HTTP: httpStore({ url: rest.url, token: rest.token, registry: false }),
  };
  const limiters = Object.entries(stores).map(([name, store]) => {
    const policies = [fixedWindow({ limit: 100, span: "1h" }), slidingWindow({ limit: 100, span: "1h" })];
    return new Limiter(store, policies, { name: `${name} ${faked}` });
  });
  // A memory store does not need timers.
  expect(await limiters[0]!.take("a")).toMatchObject({ allowed: true });
  const under = limiters.map((limiter) => limiter.take("a").catch(() => {}));
  for (let turn = 0; turn < 20; turn++) await undefined;
  vi.useRealTimers();
  for (const limiter of limiters) {
    expect(await limiter.take("b")).toMatchObject({ allowed: true });
    expect((await Promise.all([limiter.take("b"), limiter.take("c")])).map(({ allowed }) => allowed)).toEqual([
      true,
      true,
    ]);
  }
  void under;
});

test("a client that was refused before the timers are faked leaves no rejection unhandled", async () => {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  const { Lock, redisStore } = await import("../../src/entries/index.ts");
  const store = redisStore(server.url.replace("redis://", "redis://nobody:wrong@"), { registry: false });
  const lock = new Lock(store, "refused");
  await expect(lock.tryLock()).rejects.toThrow("the server refused the user name or password");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const under = lock.tryLock().catch((error) => error);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  vi.useRealTimers();
  const again = await lock.tryLock().catch((error) => error);
  expect(again.message).toContain("the server refused the user name or password");
  void under;
  await store.close();
  await new Promise(setImmediate);
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});
