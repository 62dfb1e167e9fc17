import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join } from "node:path";
import { createContext, runInContext } from "node:vm";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { httpStore, Limiter, Lock, memoryStore, slidingWindow } from "../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { startRest } from "../harness/servers/rest-server.ts";
import { root } from "./sources.ts";

type Oriel = typeof import("../../src/entries/index.ts");

const dist = join(root, "dist");
/** The globals of jsdom in Jest. Its Buffer is of Node's realm, and the classes of arrays are of its own. */
const GLOBALS = [
  ...["console", "process", "Buffer", "setTimeout", "clearTimeout", "setInterval", "clearInterval", "queueMicrotask"],
  ...["URL", "AbortController", "AbortSignal", "performance", "crypto", "atob", "btoa", "Event", "EventTarget"],
];
/** Those that an environment may have too. */
const OPTIONAL = ["TextEncoder", "TextDecoder", "setImmediate", "clearImmediate", "fetch", "structuredClone"];

/** Loads the package and what it requires in a realm of its own, as Jest's environments do. */
function loadIn(names: readonly string[]): (entry: string) => Oriel {
  const globals: Record<string, unknown> = {};
  for (const name of names) globals[name] = (globalThis as Record<string, unknown>)[name];
  globals.global = globals;
  const context = createContext(globals);
  const loaded = new Map<string, { exports: unknown }>();
  const requireIn =
    (from: string) =>
    (name: string): unknown => {
      const require = createRequire(from);
      const file = require.resolve(name);
      if (!isAbsolute(file)) return require(name);
      const known = loaded.get(file);
      if (known) return known.exports;
      const loading: { exports: unknown } = { exports: {} };
      loaded.set(file, loading);
      const text = readFileSync(file, "utf8");
      if (file.endsWith(".json")) loading.exports = JSON.parse(text);
      else {
        const run = runInContext(`(function (exports, require, module, __filename, __dirname) {${text}\n})`, context, {
          filename: file,
        });
        run(loading.exports, requireIn(file), loading, file, dirname(file));
      }
      return loading.exports;
    };
  return (entry) => requireIn(join(dist, "none.cjs"))(join(dist, `${entry}.cjs`)) as Oriel;
}

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server.stop());
afterEach(() => void vi.unstubAllGlobals());

const ENTRIES = [
  "index",
  "series",
  "limiter",
  "lock",
  "counters",
  "queue",
  "breaker",
  "metrics",
  "http",
  "telemetry",
  "kernel",
];

test.each([[], OPTIONAL, ...OPTIONAL.map((name) => OPTIONAL.filter((each) => each !== name))])(
  "every entry loads beside the globals %j",
  (...optional) => {
    const load = loadIn([...GLOBALS, ...optional]);
    for (const entry of ENTRIES) expect(Object.keys(load(entry)).length, entry).toBeGreaterThan(1);
  },
);

describe.each(["memory", "Redis"])("in another realm than that of Node's buffers, over %s", (name) => {
  const oriel = loadIn(GLOBALS)("index");
  const open = () => (name === "memory" ? oriel.memoryStore() : oriel.redisStore(server.url, { onWarning: null }));

  test("the structures answer, and arrays, bytes, dates and signals of either realm are what they are", async () => {
    const store = open();
    const { signal } = new AbortController();
    const series = new oriel.Series(store, "s", { values: "float64", clock: "event", retention: "1h" });
    const at = new Date();
    await series.recordMany(new Float64Array([1.5, 2.5, 3.5]), { at });
    await series.recordMany(new Float32Array([4.5]), { at: [at.getTime()] });
    expect((await series.stats({ signal })).sum).toBe(12);
    expect([...(await series.values())]).toEqual([1.5, 2.5, 3.5, 4.5]);

    const queue = new oriel.DelayQueue(store, "q");
    const payloads = [Buffer.from([0, 255, 128]), new Uint8Array([1, 2])];
    for (const payload of payloads) await queue.add(payload);
    const claimed = await queue.claim({ limit: 2 });
    expect(claimed.map(({ payload }) => [...(payload as Uint8Array)]).sort()).toEqual([
      [0, 255, 128],
      [1, 2],
    ]);

    const counters = new oriel.Counters(store, "c", { dimensions: ["d"] });
    await counters.add({ d: "ä" }, { at });
    expect((await counters.read()).map(({ values, count }) => [values.d, count])).toEqual([["ä", 1]]);
    const limiter = new oriel.Limiter(store, [oriel.slidingWindow({ limit: 5, span: "1h" })], { name: "l" });
    expect((await limiter.take("a", { signal })).remaining).toBe(4);
    const held = await new oriel.Lock(store, "l").tryLock({ lease: "60s", wait: "1s", signal });
    expect(await held!.release()).toBe(true);
    const breaker = new oriel.Breaker(store, { name: "b", span: "10s", failures: 3 });
    expect(await breaker.run(() => Promise.resolve(7), { signal })).toBe(7);
    await Promise.all([series.close(), counters.close()]);
    await store.close();
  });

  test("kernels take columns and bytes of either realm", () => {
    const values = new Float64Array([3, 1, 2]);
    const { kernel } = oriel;
    expect(kernel.percentile(values, 50)).toBe(2);
    for (const bytes of [new Uint8Array(values.buffer), Buffer.from(values.buffer)])
      expect(kernel.sum(bytes, { type: "f64" })).toBe(6);
    const times = new BigInt64Array([1n, 2n, 3n]);
    expect(kernel.stats(times, values, 0, { sorted: true, percentiles: [50] })).toMatchObject({ count: 3, sum: 6 });
  });
});

test("a hold's signal is read where AbortSignal inherits its members, as in happy-dom", async () => {
  class Inheriting extends AbortSignal {}
  vi.stubGlobal("AbortSignal", Inheriting);
  const read = new Lock(memoryStore(), "l").withLock(({ signal }) => {
    signal.throwIfAborted();
    return signal.aborted;
  });
  expect(await read).toBe(false);
});

test("a store over HTTP works beside the Blob of jsdom, which the fetch of Node does not know", async () => {
  const rest = await startRest(server.url);
  try {
    vi.stubGlobal("Blob", class {});
    const store = httpStore({ url: rest.url, token: rest.token });
    const limiter = new Limiter(store, [slidingWindow({ limit: 5, span: "1h" })], { name: "jsdom" });
    expect((await Promise.all([limiter.take("a"), limiter.take("b")])).map(({ remaining }) => remaining)).toEqual([
      4, 4,
    ]);
    expect((await limiter.take("a")).remaining).toBe(3);
  } finally {
    await rest.stop();
  }
});
