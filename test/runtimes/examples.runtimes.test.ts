import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, extname, join } from "node:path";
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { Miniflare } from "miniflare";
import { chromium } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packageOf, placed } from "../examples/placed.ts";
import { freePort, type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { startRest } from "../harness/servers/rest-server.ts";
import { until } from "../harness/until.ts";
import { watch } from "../harness/watchdog.ts";
import { root } from "../house/sources.ts";
import { temporaryFolder } from "./bundles/bundle.ts";
import { inRuntime } from "./engines/in-runtime.ts";
import { serve } from "./site.ts";
import { deployed } from "./worker.ts";

const folder = temporaryFolder();

let server: RedisServer;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis?.disconnect();
  await server?.stop();
});

const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
});
function started(program: string, args: string[], cwd: string, env: Record<string, string>): ChildProcess {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["pipe", "pipe", 2] });
  watch(child);
  children.push(child);
  return child;
}

/** The minimum latency of the origin behind the Worker. */
async function startOrigin(ms: number): Promise<{ url: string; close(): void }> {
  const origin = createServer((_request, response) => void setTimeout(() => response.end("hello\n"), ms));
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  return { url, close: () => origin.close() && origin.closeAllConnections() };
}

test("the Worker limits by address, in Redis over HTTP with two commands per request, and reports the origin's p99", async () => {
  const rest = await startRest(server.url);
  const origin = await startOrigin(25);
  const script = await deployed(join(placed("worker"), "worker.ts"), folder, { date: "2025-05-31" });
  const wasm = readdirSync(dirname(script)).flatMap((file) =>
    file.endsWith(".wasm") ? [join(dirname(script), file)] : [],
  );
  const worker = new Miniflare({
    modules: [{ type: "ESModule", path: script }, ...wasm.map((path) => ({ type: "CompiledWasm", path }) as const)],
    modulesRoot: dirname(script),
    compatibilityDate: "2025-05-31",
    bindings: { REDIS_REST_URL: rest.url, REDIS_REST_TOKEN: rest.token, ORIGIN: origin.url },
    cf: false,
  });
  const ask = (path: string, address: string) =>
    worker.dispatchFetch(`http://localhost${path}`, { headers: { "cf-connecting-ip": address } });
  try {
    const answers = [];
    for (let i = 0; i < 20; i++)
      answers.push(
        ...(await Promise.all([0, 1, 2, 3, 4].map(() => ask("/", "203.0.113.7")))).map(({ status }) => status),
      );
    expect(answers).toEqual(Array(100).fill(200));
    const denied = await ask("/", "203.0.113.7");
    expect(denied.status).toBe(429);
    expect(Number(denied.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await ask("/", "203.0.113.8")).status).toBe(200);
    let reported: unknown;
    await until("all latencies are recorded", async () => {
      reported = await (await ask("/p99", "203.0.113.9")).json();
      return (reported as { count: number }).count === 101;
    });
    expect(reported).toEqual({ count: 101, p99: expect.any(Number) });
    expect((reported as { p99: number }).p99).toBeGreaterThan(20);
    const seen = rest.requests.length;
    expect(await (await ask("/", "203.0.113.10")).text()).toBe("hello\n");
    const commands = () => rest.requests.slice(seen).flatMap((request) => request.commands.map(([name]) => name));
    await until("the latency is recorded", () => commands().length === 2);
    expect(commands()).toEqual(["EVALSHA", "EVALSHA"]);
  } finally {
    origin.close();
    await worker.dispose();
    await rest.stop();
  }
});

/** The script of package.json for each runtime, and the arguments that only the test needs. */
const SERVED: Record<string, [script: string, extra: (port: number) => string[]]> = {
  Deno: ["start:deno", (port) => ["--no-prompt", `--port=${port}`]],
  Bun: ["start", () => []],
};
for (const [name, [script, extra]] of Object.entries(SERVED))
  inRuntime(name, (program) => {
    test("the Hono app limits by key and reports the latencies", async () => {
      const app = placed("hono");
      const words = packageOf(app).scripts[script]!.split(" ").slice(1);
      const port = await freePort();
      const env = { PORT: String(port), REDIS_URL: server.url, NO_COLOR: "1", DENO_NO_UPDATE_CHECK: "1" };
      started(program, [...words.slice(0, -1), ...extra(port), words.at(-1)!], app, env);
      const url = `http://127.0.0.1:${port}`;
      const latency = async () =>
        (await fetch(`${url}/latency`)).json() as Promise<{ count: number; percentiles: object }>;
      await until("it listens", async () => (await latency()) !== undefined);
      await redis.flushall();
      const answers = await Promise.all(
        Array.from({ length: 60 }, () => fetch(`${url}/api/hello`, { headers: { "x-api-key": "me" } })),
      );
      const allowed = answers.filter(({ status }) => status === 200);
      const denied = answers.filter(({ status }) => status === 429);
      expect(allowed.length + denied.length).toBe(60);
      expect(allowed.length).toBeGreaterThanOrEqual(20);
      expect(denied.length).toBeGreaterThan(0);
      expect(denied[0]!.headers.get("ratelimit")).toMatch(/r=0/);
      expect(await latency()).toEqual({
        count: allowed.length,
        percentiles: { 50: expect.any(Number), 99: expect.any(Number) },
      });
      expect((await fetch(`${url}/api/hello`, { headers: { "x-api-key": "another" } })).status).toBe(200);
    });
  });

test("the Lambda function continues after a freeze that cost its connection", async () => {
  await redis.flushall();
  const lambda = placed("lambda");
  const [, ...options] = packageOf(lambda).scripts.build!.split(" ");
  execFileSync(join(root, "node_modules", ".bin", "esbuild"), [...options, "--log-level=error"], { cwd: lambda });
  writeFileSync(
    join(lambda, "main.mjs"),
    `import { createInterface } from "node:readline";
import { handler } from "./build/handler.cjs";
for await (const sourceIp of createInterface({ input: process.stdin }))
  console.log(JSON.stringify(await handler({ requestContext: { http: { sourceIp } } })));
`,
  );
  const instance = started(process.execPath, ["main.mjs"], lambda, { REDIS_URL: server.url });
  const lines = createInterface({ input: instance.stdout! })[Symbol.asyncIterator]();
  const invoke = async (sourceIp: string) => {
    instance.stdin!.write(`${sourceIp}\n`);
    const answer = JSON.parse((await lines.next()).value);
    return { ...answer, body: answer.body && JSON.parse(answer.body) };
  };
  for (let i = 1; i <= 5; i++)
    expect(await invoke("203.0.113.7")).toEqual({
      statusCode: 200,
      body: { count: i, tookMs: expect.any(Number), p99: expect.any(Number) },
    });
  expect(await invoke("203.0.113.7")).toMatchObject({ statusCode: 429 });
  instance.kill("SIGSTOP");
  await redis.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
  instance.kill("SIGCONT");
  expect(await invoke("203.0.113.8")).toMatchObject({ statusCode: 200, body: { count: 6 } });
});

inRuntime("Chromium", (executablePath) => {
  test("the page measures its own frames", async () => {
    const source = placed("browser");
    await build({ root: source, configFile: false, logLevel: "error" });
    const site = await serve(builtFiles(join(source, "dist")));
    const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(240_000);
      const errors: Error[] = [];
      page.on("pageerror", (error) => errors.push(error));
      await page.goto(site.url);
      const output = page.locator("output", {
        hasText: /^[1-9]\d* frames, p99 \d+\.\d ms, longest \d+\.\d ms \(wasm-simd\)$/,
      });
      await output.waitFor({ timeout: 240_000 });
      expect(errors).toEqual([]);
    } finally {
      await browser.close();
      await site.close();
    }
  });
});

const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

/** The files of a built page, by their paths on a site. */
function builtFiles(built: string): Record<string, [type: string, body: Uint8Array]> {
  const paths = readdirSync(built, { recursive: true, encoding: "utf8" }).map((path) => path.replaceAll("\\", "/"));
  const entries = paths
    .filter((path) => extname(path) !== "")
    .map((path): [string, [string, Uint8Array]] => {
      const at = path === "index.html" ? "/" : `/${path}`;
      return [at, [TYPES[extname(path)] ?? "text/plain", readFileSync(join(built, path))]];
    });
  return { ...Object.fromEntries(entries), "/favicon.ico": ["image/x-icon", new Uint8Array()] };
}
