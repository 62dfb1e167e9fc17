import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findPython, findRedisCli } from "../../scripts/find-programs.mjs";
import { ChunkSealer } from "../../src/engine/journal/sealed/sealer.ts";
import { read } from "../../src/engine/journal/steps/read.ts";
import { rotate } from "../../src/engine/journal/steps/rotate.ts";
import { jsCodec } from "../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../src/engine/kernel/choose.ts";
import type { SeriesOptions } from "../../src/engine/series/series-options.ts";
import { redisStore, Series } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { valuesOf } from "../kernel/blocks/shapes.ts";
import { randomOf } from "../kernel/columns.ts";
import { isWrite } from "../series/contract/changed-store.ts";

const folder = fileURLToPath(new URL("../../lua", import.meta.url));
const NAME = 'a {name} with 50 % "ä"';

/** The Python program's output: numbers as text that parses to the same number. */
const PROGRAM = `
import json, sys
import numpy as np
from read_series import events
name, begin, end, *redis_cli = sys.argv[1:]
times, values = events(name, redis_cli)
inside = (times > float(begin)) & (times <= float(end))
kept = values[inside]
print(json.dumps({
    "times": times[inside].tolist(), "values": kept.tolist(),
    "p50": float(np.percentile(kept, 50, method="inverted_cdf")) if kept.size else None,
    "p99": float(np.percentile(kept, 99, method="inverted_cdf")) if kept.size else None,
}))
`;

const python = findPython("numpy");
const redisCli = findRedisCli();
const isThere = python !== undefined && redisCli !== undefined;
if (!isThere)
  console.warn("skipped: the Python reader: no Python with NumPy, or no redis-cli; `npm run test:all` unpacks them");

describe.runIf(isThere)("a short Python program reads the journal in Redis", () => {
  let server: RedisServer;
  let raw: Redis;
  let store: Store;
  beforeAll(async () => {
    server = await startRedis();
    raw = new Redis(server.url);
    store = redisStore(server.url);
  });
  beforeEach(() => raw.flushall());
  afterAll(async () => {
    await store?.close();
    raw?.disconnect();
    await server?.stop();
  });

  /** The window of `stats` as Python finds it, held against the series itself. */
  async function agrees(series: Series): Promise<number[]> {
    const { from, to, count, percentiles } = await series.stats({ percentiles: [50, 99], method: "inverted_cdf" });
    const args = ["-c", PROGRAM, NAME, `${from}`, `${to}`, redisCli!, "-s", server.url];
    const env = { ...process.env, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
    const reported = JSON.parse(execFileSync(python!, args, { env, encoding: "utf8", maxBuffer: 2 ** 28 }));
    expect(reported.values.length).toBe(count);
    const bytes = (values: ArrayLike<number>) => Buffer.from(Float64Array.from(values).buffer);
    expect(bytes(reported.values).equals(bytes(await series.values({ at: to })))).toBe(true);
    if (count > 0) expect([reported.p50, reported.p99]).toEqual([percentiles[50], percentiles[99]]);
    return reported.times;
  }
  const open = (options: SeriesOptions) => new Series(store, NAME, { retention: "10m", ...options });
  const numbers = (count: number) => Array.from({ length: count }, (_, i) => Math.sin(i) * 1000 + i / 7);

  test.each(["float32", "float64"] as const)("%s, alone and in batches, over several chunks", async (values) => {
    const series = open({ values });
    expect(await agrees(series)).toEqual([]);
    for (const count of [1, 2, 33, 150_000, 1, 150_000, 250_000, 7]) await series.recordMany(numbers(count));
    expect((await raw.keys("*")).length).toBeGreaterThan(1);
    await agrees(series);
  });

  test.each(["float32", "float64"] as const)("%s with times of their own", async (values) => {
    const series = open({ values });
    const { to } = await series.stats();
    const at = numbers(1001).map((_, i) => to - 599_000 + 13 * ((i * 7919) % 1001));
    for (let i = 0; i < 1001; i += 143) await series.recordMany(numbers(143), { at: at.slice(i, i + 143) });
    await series.recordMany(numbers(3));
    expect((await agrees(series)).slice(0, 1001)).toEqual(at);
  });

  test("a series by its events' clock", async () => {
    const series = open({ clock: "event" });
    const at = Array.from({ length: 500 }, (_, i) => Date.now() - 1e6 + i * 11);
    await series.recordMany(numbers(500), { at });
    expect(await agrees(series)).toEqual(at);
  });

  test.each(["float32", "float64"] as const)("%s in sealed chunks", async (values) => {
    const series = open({ values });
    const shapes = ["lognormal to 1 us", "lognormal", "ties", "zero or one", "mostly zero", "rising", "equal", "wide"];
    const random = randomOf(17);
    const { to } = await series.stats();
    for (let i = 0; i < 12; i++) {
      for (const shape of shapes) {
        const column = valuesOf(shape, values === "float64" ? Float64Array : Float32Array, 900 + i, random);
        if (i % 3 === 0) await series.recordMany(column, { at: Array.from(column, (_, k) => to - 7 * (k % 97)) });
        else if (i % 3 === 1) await series.recordMany(column);
        else for (const value of column.subarray(0, 40)) await series.record(value);
      }
      // One chunk for each round; a failover is not needed to close it.
      const key = store.keyOf(NAME);
      const { header } = await store.run(read, key, "header");
      await store.run(rotate, key, { number: header!.number, birth: header!.birth, nextBirth: 100 + i });
      if (i === 11) continue;
      const tools = () => ({ codec: jsCodec, kernel: activeKernel() });
      expect(await new ChunkSealer(store, key, tools).seal(header!.number)).toBe("sealed");
    }
    await series.recordMany(numbers(7));
    await agrees(series);
  });

  test("repeated requests count once", async () => {
    const twice: Store = {
      ...store,
      run: async (operation, key, input, options) => {
        if (isWrite(operation.name)) await store.run(operation, key, input);
        return store.run(operation, key, input, options);
      },
    };
    const series = new Series(twice, NAME, { retention: "10m", values: "float64" });
    for (let i = 0; i < 20; i++) await series.recordMany(numbers(1 + (i % 5)));
    expect((await agrees(series)).length).toBe(60);
    expect(await raw.strlen(`oriel:{${NAME.replace("%", "%25").replace("{", "%7B").replace("}", "%7D")}}`)).toBe(
      64 + 2 * (20 * 16 + 60 * 8),
    );
  });
});
