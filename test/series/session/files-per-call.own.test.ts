import { readFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { redisStore, Series } from "../../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

/** The rooms of the engine that one value passes through, from the call to the journal and back to the answer. */
const WALK = /^src\/engine\/(series|journal|stats)\//;
const MAX_FILES = 29;

const inspector = new Session();
let server: RedisServer;

beforeAll(async () => {
  server = await startRedis();
  inspector.connect();
  await inspector.post("Profiler.enable");
  await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
});

afterAll(async () => {
  inspector.disconnect();
  await server.stop();
});

test("a warm recordAndGet runs code of few files", async () => {
  const store = redisStore(server.url);
  const series = new Series(store, "warm");
  const options = { span: "1m", percentiles: [99] } as const;
  await series.recordMany(Array.from({ length: 5000 }, (_, i) => i));
  for (let i = 0; i < 10; i++) await series.recordAndGet(i, options);
  await inspector.post("Profiler.takePreciseCoverage");
  await series.recordAndGet(1, options);
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  await store.close();
  const files = executed(result).filter((path) => WALK.test(path));
  expect(files.length, files.join("\n")).toBeLessThanOrEqual(MAX_FILES);
  const listed = readFileSync("src/engine/README.md", "utf8").matchAll(/^\d+\. `(\S+)`/gm);
  expect([...listed].map(([, path]) => `src/engine/${path}`).sort()).toEqual(files.sort());
});

/** The sources of which a function was called since the last coverage was taken. Vitest's own functions have no name. */
function executed(scripts: Profiler.ScriptCoverage[]): string[] {
  return scripts
    .filter(({ functions }) => functions.some(({ functionName, ranges }) => functionName && ranges[0]!.count > 0))
    .map(({ url }) => url.replace(/^.*?\/(?=src\/)/, ""));
}
