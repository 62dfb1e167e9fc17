import { readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DelayQueue, Limiter, Lock, redisStore, Series, slidingWindow } from "../../src/entries/index.ts";
import type { WatchedStore } from "../../src/store/contract.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

/** The rooms of the engine that one value passes through, from the call to the journal and back to the answer. */
const ENGINE = /^src\/engine\/(series|journal|stats)\//;

const inspector = new Session();
let server: RedisServer;
let store: WatchedStore;

beforeAll(async () => {
  server = await startRedis();
  // Those that only listen to the calls are not on their way.
  store = redisStore(server.url, { history: false });
  inspector.connect();
  await inspector.post("Profiler.enable");
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
});

afterAll(async () => {
  inspector.disconnect();
  await store.close();
  await server.stop();
});

describe("the files that run in a warm call are those in the README of its wing", () => {
  test("recordAndGet of a series", async () => {
    const series = new Series(store, "warm");
    await series.recordMany(Array.from({ length: 5000 }, (_, i) => i));
    const files = await walk(() => series.recordAndGet(1, { span: "1m", percentiles: [99] }));
    expect(files.filter((path) => ENGINE.test(path))).toEqual(listed("engine"));
    expect(listed("engine").length).toBeLessThanOrEqual(29);
  });

  test("take of a limiter", async () => {
    const limiter = new Limiter(store, [slidingWindow({ limit: 1_000_000, span: "1m" })], { name: "warm" });
    const files = await walk(() => limiter.take("a"));
    expect(files).toEqual([...listed("limits"), ...listed("store")].sort());
    expect(files.length).toBeLessThanOrEqual(17);
  });

  test("add of a queue, until the handler has the message", async () => {
    const queue = new DelayQueue(store, "warm");
    let handled = () => {};
    const worker = queue.process(async () => handled());
    const files = await walk(async () => {
      const ended = new Promise<unknown>((resolve) => worker.on("completed", resolve));
      const begun = new Promise<void>((resolve) => {
        handled = resolve;
      });
      await queue.add("a");
      await begun;
      await ended;
    });
    await worker.close();
    expect(files).toEqual([...listed("queue"), ...listed("store")].sort());
    expect(files.length).toBeLessThanOrEqual(25);
  });

  test("tryLock and release of a lock", async () => {
    const lock = new Lock(store, "warm");
    const files = await walk(async () => {
      const held = await lock.tryLock();
      expect(await held?.release()).toBe(true);
    });
    expect(files).toEqual([...listed("holds"), ...listed("store")].sort());
    expect(files.length).toBeLessThanOrEqual(17);
  });
});

/** The files of the wings, without `base`, of which a function runs in most of five calls after ten others. */
async function walk(call: () => Promise<unknown>): Promise<string[]> {
  for (let i = 0; i < 10; i++) await call();
  await inspector.post("Profiler.takePreciseCoverage");
  const counts = new Map<string, number>();
  for (let i = 0; i < 5; i++) {
    await call();
    const { result } = await inspector.post("Profiler.takePreciseCoverage");
    for (const path of executed(result)) counts.set(path, (counts.get(path) ?? 0) + 1);
  }
  // In one or two a timer may have ended, such as that of an announcement.
  return [...counts.keys()].filter((path) => counts.get(path)! > 2 && /^src\/(?!base\/)/.test(path)).sort();
}

/** The numbered files in the README of a wing. */
function listed(wing: string): string[] {
  const found = readFileSync(`src/${wing}/README.md`, "utf8").matchAll(/^\d+\. `(\S+)`/gm);
  return [...found].map(([, path]) => (path!.startsWith("src/") ? path! : `src/${wing}/${path}`)).sort();
}

/** The sources of which a function was called since the last coverage was taken. Vitest's own functions have no name. */
function executed(scripts: Profiler.ScriptCoverage[]): string[] {
  return scripts
    .filter(({ url }) => !url.includes("/node_modules/"))
    .filter(({ functions }) => functions.some(({ functionName, ranges }) => functionName && ranges[0]!.count > 0))
    .map(({ url }) => url.replace(/^.*?\/(?=src\/)/, ""));
}
