import { execFile, execFileSync } from "node:child_process";
import { join } from "node:path";
import { build as buildWithEsbuild } from "esbuild";
import { build as buildWithVite } from "vite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import webpack from "webpack";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { consumer, written } from "../consumer.ts";
import { programs } from "../programs.ts";
import { temporaryFolder } from "./bundle.ts";

/** A program for a server that uses each entry on a real Redis, and prints what it got. */
const PROGRAM = `
import * as all from "oriel";
import { Limiter, redisStore, slidingWindow } from "oriel/limiter";
import { Series } from "oriel/series";
import { Lock } from "oriel/lock";
import { Semaphore } from "oriel/semaphore";
import { Counters } from "oriel/counters";
import { DelayQueue } from "oriel/queue";
import { Breaker } from "oriel/breaker";
import { MetricWindow } from "oriel/metrics";
import { FleetMetrics } from "oriel/fleet";
import { rateLimitHeaders } from "oriel/http";
import { sqliteSink } from "oriel/sql";
import { dashboard } from "oriel/dashboard";
import { kernel } from "oriel/kernel";
async function main() {
  const store = redisStore(process.env.ORIEL_REDIS, { onWarning: null });
  const got = {};
  const of = (name) => name + process.env.ORIEL_RUN;
  try {
    const limiter = new Limiter(store, [slidingWindow({ limit: 2, span: "1h" })], { name: of("l") });
    const decision = await limiter.take("a");
    got.limiter = [decision.allowed, Object.keys(rateLimitHeaders(decision)).length > 0];
    const series = new Series(store, of("s"));
    await series.record(7);
    got.series = (await series.stats()).sum;
    await series.close();
    const held = await new Lock(store, of("k")).tryLock({ lease: "5s" });
    got.lock = await held.release();
    const permit = await new Semaphore(store, of("p"), { limit: 1 }).tryAcquire({ lease: "5s" });
    got.semaphore = await permit.release();
    const counters = new Counters(store, of("c"), { dimensions: ["d"] });
    await counters.add({ d: "x" });
    got.counters = (await counters.read()).length;
    await counters.close();
    const queue = new DelayQueue(store, of("q"));
    await queue.add({});
    got.queue = (await queue.counts()).due;
    got.breaker = await new Breaker(store, { name: of("b"), span: "10s", failures: 3 }).run(() => 1);
    const fleet = new FleetMetrics(store, of("f"));
    fleet.metric("m").recordSuccess(1);
    await fleet.flush();
    await fleet.close();
    got.fleet = true;
    got.metrics = typeof new MetricWindow({ interval: 1000, sampleCount: 10 }).recordSuccess;
    got.others = [typeof sqliteSink, typeof dashboard, typeof all.registerAll, kernel.name];
  } catch ({ code, transient, message }) {
    got.error = { code, transient, message };
  }
  console.log(JSON.stringify(got));
  await store.close();
}
main();
`;
const WORKS = {
  limiter: [true, true],
  series: 7,
  lock: true,
  semaphore: true,
  counters: 1,
  queue: 1,
  breaker: 1,
  fleet: true,
  metrics: "function",
  others: ["function", "function", "function", "wasm-simd"],
};
/** A form in which a CommonJS package cannot require Node's own modules. */
const CANNOT = {
  error: { code: "UNAVAILABLE", transient: false, message: expect.stringContaining("mark it external in the bundler") },
};

type Format = "esm" | "cjs";
const folder = temporaryFolder();
let server: RedisServer;
let entry: string;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  entry = written("server.mjs", PROGRAM);
});
afterAll(() => server.stop());

const esbuild = (format: Format, external: string[]) => async (file: string) => {
  await buildWithEsbuild({
    entryPoints: [entry],
    bundle: true,
    platform: "node",
    outfile: file,
    format,
    external,
    logLevel: "error",
  });
};

const vite = (format: Format) => async (file: string) => {
  await buildWithVite({
    root: consumer(),
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true, target: "node" },
    build: {
      ssr: entry,
      outDir: join(file, ".."),
      emptyOutDir: false,
      minify: false,
      rollupOptions: { output: { format, entryFileNames: file.split("/").pop()!, codeSplitting: false } },
    } as never,
  });
};

const webpacked = (format: Format) => async (file: string) => {
  const isModule = format === "esm";
  const compiler = webpack({
    mode: "none",
    target: "node20",
    context: consumer(),
    entry,
    experiments: isModule ? { outputModule: true } : {},
    output: {
      path: join(file, ".."),
      filename: file.split("/").pop()!,
      chunkFormat: isModule ? "module" : "commonjs",
      library: { type: isModule ? "module" : "commonjs2" },
    },
    optimization: { splitChunks: false },
    plugins: [new webpack.optimize.LimitChunkCountPlugin({ maxChunks: 1 })],
  });
  const stats = await new Promise<import("webpack").Stats>((resolve, reject) =>
    compiler.run((error, done) => (error ? reject(error) : resolve(done!))),
  );
  expect(stats.toJson({ errors: true }).errors!.map(({ message }) => message)).toEqual([]);
};

const bun = (format: Format) => async (file: string) => {
  execFileSync(programs.Bun!, ["build", entry, "--target=node", `--format=${format}`, `--outfile=${file}`], {
    cwd: consumer(),
    stdio: "pipe",
  });
};

const FORMS: (readonly [name: string, format: Format, bundle: (file: string) => Promise<void>, expected: object])[] = [
  ["esbuild, Redis outside", "esm", esbuild("esm", ["ioredis", "redis-semaphore"]), WORKS],
  ["esbuild, its client inside", "esm", esbuild("esm", ["redis-semaphore"]), CANNOT],
  ["esbuild", "cjs", esbuild("cjs", []), WORKS],
  ["Vite's server build", "esm", vite("esm"), WORKS],
  ["Vite's server build", "cjs", vite("cjs"), WORKS],
  ["webpack", "esm", webpacked("esm"), WORKS],
  ["webpack", "cjs", webpacked("cjs"), WORKS],
  ...(programs.Bun
    ? ([
        ["Bun", "esm", bun("esm"), WORKS],
        ["Bun", "cjs", bun("cjs"), WORKS],
      ] as const)
    : []),
];

describe("a program for a server that uses each entry, bundled from the packed package", () => {
  test.each(FORMS)("%s, as %s", async (name, format, bundle, expected) => {
    const where = name.startsWith("esbuild, ") ? consumer() : folder;
    const file = join(where, `${name.replace(/\W+/g, "-")}.${format === "esm" ? "mjs" : "cjs"}`);
    await bundle(file);
    const printed = await new Promise<string>((resolve, reject) => {
      const env = { ...process.env, ORIEL_REDIS: server.url, ORIEL_RUN: `${name} ${format}` };
      execFile(process.execPath, [file], { cwd: where, env }, (error, stdout, stderr) =>
        error ? reject(new Error(`${error.message}\n${stderr}`)) : resolve(stdout),
      );
    });
    expect(JSON.parse(printed)).toEqual(expected);
  });
});
