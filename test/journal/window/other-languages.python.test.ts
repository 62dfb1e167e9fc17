// The function oriel_window, called as its page says: by redis-cli and by redis-py.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findPython, findRedisCli } from "../../../scripts/find-programs.mjs";
import { composeFunction, luaFolder } from "../../../scripts/lua/compose-script.mjs";
import { ChunkSealer } from "../../../src/engine/journal/sealed/sealer.ts";
import { read } from "../../../src/engine/journal/steps/read.ts";
import { rotate } from "../../../src/engine/journal/steps/rotate.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../../src/engine/kernel/choose.ts";
import type { SeriesOptions } from "../../../src/engine/series/series-options.ts";
import type { WindowStats } from "../../../src/engine/stats/window-stats.ts";
import { redisStore, Series } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { blocksOf } from "../../docs/blocks.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";

const NAME = "api:latency";
const KEY = `oriel:{${NAME}}`;
const python = findPython("redis");
const redisCli = findRedisCli();
if (!python) console.warn("skipped: redis-py: no Python with it; `npm run test:all` unpacks one");
if (!redisCli) console.warn("skipped: redis-cli is not there; `npm run test:all` unpacks it");

const text = composeFunction(join(luaFolder, "journal", "window.lua"));
/** A folder in which the package is installed. */
const folder = mkdtempSync(join(tmpdir(), "oriel-window-"));
let server: RedisServer;
let raw: Redis;
let store: Store;

beforeAll(async () => {
  mkdirSync(join(folder, "node_modules/oriel/dist"), { recursive: true });
  writeFileSync(join(folder, "node_modules/oriel/dist/oriel_window.lua"), text);
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
  store = redisStore(server.url, { registry: false });
});
beforeEach(() => raw.flushall());
afterAll(async () => {
  await store?.close();
  raw?.disconnect();
  await server?.stop();
  rmSync(folder, { recursive: true });
});

const open = (options: SeriesOptions) => new Series(store, NAME, { retention: "10m", ...options });
const numbers = (count: number) =>
  Array.from({ length: count }, (_, i) => Math.round(1e5 * Math.sin(i)) / 1000 + i / 8);

async function closeAndSeal(): Promise<void> {
  const { header } = await store.run(read, store.keyOf(NAME), "header");
  const { number, birth } = header!;
  await store.run(rotate, store.keyOf(NAME), { number, birth, nextBirth: 1 + (birth % 1000) });
  const tools = () => ({ codec: jsCodec, kernel: activeKernel() });
  expect(await new ChunkSealer(store, store.keyOf(NAME), tools).seal(number)).toBe("sealed");
}

/** redis-cli prints one text on each line. */
function called(...words: string[]): Record<string, string> {
  const printed = execFileSync(redisCli!, ["-p", `${server.port}`, ...words], { encoding: "utf8" });
  const lines = printed.trimEnd().split("\n");
  return Object.fromEntries(lines.flatMap((name, i) => (i % 2 === 0 ? [[name, lines[i + 1]!]] : [])));
}

/** Equal, except that the last digit of a sum or mean may be rounded the other way. */
function expectSame(found: Record<string, string>, { count, sum, mean, min, max, to }: WindowStats): void {
  expect([found.count, found.min, found.max, found.to].map(Number)).toEqual([count, min, max, to]);
  expect(Math.abs(Number(found.sum) - sum)).toBeLessThanOrEqual(2 ** -52 * Math.abs(sum));
  if (count === 0) expect(found.mean).toBe("nan");
  else expect(Math.abs(Number(found.mean) - mean)).toBeLessThanOrEqual(2 ** -52 * Math.abs(mean));
}

describe.runIf(redisCli)("redis-cli", () => {
  const forms: [string, (...args: string[]) => Record<string, string>][] = [
    ["FCALL_RO", (...args) => called("FCALL_RO", "oriel_window", "1", KEY, ...args)],
    ["EVAL_RO", (...args) => called("EVAL_RO", text.slice(text.indexOf("\n") + 1), "1", KEY, ...args)],
  ];
  test.each(forms)("%s answers as the series does, over sealed and open chunks", async (_form, call) => {
    await raw.call("FUNCTION", "LOAD", "REPLACE", text);
    for (const values of ["float32", "float64"] as const) {
      await raw.flushall();
      const series = open({ values });
      for (let chunk = 0; chunk < 3; chunk++) {
        for (let i = 0; i < 20; i++) await series.recordMany(numbers(300 + i));
        if (chunk < 2) await closeAndSeal();
      }
      const whole = call("600000");
      expectSame(whole, await series.stats({ at: Number(whole.to), percentiles: [] }));
      expect(whole.count).toBe(`${3 * (20 * 300 + 190)}`);
      const { from, to } = await series.stats({ span: 1000, at: Number(whole.to) });
      for (const at of [from, to - 300, to - 40, to - 3, to])
        expectSame(call("700", `${at}`), await series.stats({ span: 700, at, percentiles: [] }));
      await series.close();
    }
  });

  test("a series by its events' clock", async () => {
    await raw.call("FUNCTION", "LOAD", "REPLACE", text);
    const series = open({ clock: "event" });
    const at = Array.from({ length: 5000 }, (_, i) => 1_700_000_000_000 + 11 * ((i * 7919) % 5000));
    await series.recordMany(numbers(5000), { at });
    await closeAndSeal();
    await series.recordMany(numbers(9), { at: at.slice(0, 9).map((ms) => ms + 60_000) });
    for (const span of [1, 100, 5000, 30_000, 600_000])
      expectSame(
        called("FCALL_RO", "oriel_window", "1", KEY, `${span}`),
        await series.stats({ span, percentiles: [] }),
      );
    await series.close();
  });
});

test.runIf(python)("the Python program of the page prints what the page says", async () => {
  const blocks = blocksOf("docs/understand/stored-formats.md");
  const place = blocks.findIndex(({ language, code }) => language === "python" && code.includes("oriel_window"));
  const series = open({ values: "float64" });
  const values = Array.from({ length: 100 }, (_, i) => i + 1);
  for (let i = 0; i < 93; i++) await series.record(values[i]!);
  await series.recordMany(values.slice(93));
  const env = { ...process.env, REDIS_URL: server.url };
  const printed = execFileSync(python!, ["-c", blocks[place]!.code], { env, cwd: folder, encoding: "utf8" });
  expect(printed.trim()).toBe(blocks[place + 1]!.code.trim());
  await series.close();
});

test("the package has this function", () => {
  expect(readFileSync("dist/oriel_window.lua", "utf8")).toBe(text);
});
