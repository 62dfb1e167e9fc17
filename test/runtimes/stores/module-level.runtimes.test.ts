// Structures that are made where a Worker's module is loaded, and serve all its requests: what a request that is gone had begun must hold up no later one.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { type Command, type RestServer, startRest } from "../../harness/servers/rest-server.ts";
import { until } from "../../harness/until.ts";
import { root } from "../../house/sources.ts";
import { temporaryFolder } from "../bundles/bundle.ts";

const WORKER = `
import * as oriel from "./src/entries/js.ts";
const { Breaker, concurrency, Counters, DelayQueue, FleetMetrics, httpStore, Limiter, Lock, Series, slidingWindow } = oriel;
const started = (env) => {
  // Nothing may be drawn here, no timer be set, and it is 1970.
  const store = httpStore({ url: env.URL, token: env.TOKEN, deadline: 2000 });
  const limit = (name, policy, options) => new Limiter(store, [policy], { name, ...options });
  const circuit = (name) => new Breaker(store, { name, span: "1m", failures: 1, cooldown: "1ms", flush: "1ms" });
  return {
    series: new Series(store, "series"),
    asked: new Series(store, "series"),
    long: new Series(store, "long"),
    // It ends requests that the server leaves without an answer.
    kept: new Series(httpStore({ url: env.URL, token: env.TOKEN, deadline: 300 }), "kept", { onStoreError: "local" }),
    store,
    circuit: circuit("circuit"),
    broken: circuit("broken"),
    counters: new Counters(store, "counters", { dimensions: ["lan"], mirror: { prefix: "mirror:" } }),
    fleet: new FleetMetrics(store, "fleet", { flush: "10s" }),
    leased: limit("leased", slidingWindow({ limit: 1e6, span: "1m" }), { lease: { permits: 1, for: "1ms" } }),
    lent: limit("lent", concurrency({ limit: 100, lease: "1m" })),
    lock: new Lock(store, "lock"),
    small: small(env),
    queue: new DelayQueue(store, "queue"),
  };
};
const small = (env) => {
  // As above.
  const store = httpStore({ url: env.URL, token: env.TOKEN, deadline: 300, maxPendingBytes: 4096 });
  return new Limiter(store, [slidingWindow({ limit: 1e6, span: "1m" })], { name: "small" });
};
const shared = started({ URL: REST_URL, TOKEN: REST_TOKEN });
const failed = () => Promise.reject(new Error("failed"));
const routes = {
  record: ({ series }) => series.record(1).then(({ degraded }) => (degraded ? "local" : "done")),
  long: ({ long }) => long.recordMany(new Float32Array(100_000)).then(() => "done"),
  keep: ({ kept }) => kept.record(1).then(({ degraded }) => (degraded ? "local" : "done")),
  keptCount: async ({ kept }) => (await kept.stats()).count,
  storedCount: async ({ store }) => (await new Series(store, "kept").stats()).count,
  recordAndGet: ({ series }) => series.recordAndGet(1).then(({ count }) => (count > 0 ? "done" : count)),
  recordMany: ({ series }) => series.recordMany([1, 2], { at: [Date.now(), Date.now()] }).then(() => "done"),
  stats: ({ asked }) => asked.stats().then(() => "done"),
  copied: ({ asked }) => asked.stats({ maxAge: 1 }).then(() => "done"),
  hand: ({ circuit }) => circuit.run(async () => {}).then(() => circuit.flush()).then(() => "done"),
  probe: async ({ broken }) => {
    await broken.run(failed).catch(() => {});
    await broken.flush();
    await new Promise((resolve) => setTimeout(resolve, 20));
    return broken.run(async () => "done").catch((error) => (error.code === "OPEN" ? "open" : Promise.reject(error)));
  },
  add: ({ counters }) => counters.add({ lan: "de" }).then(() => "done"),
  flush: ({ fleet }) => {
    fleet.metric("pay").addSuccess(1);
    return fleet.flush().then(() => "done");
  },
  lease: ({ leased }) => leased.take("key").then(({ allowed }) => (allowed ? "done" : "denied")),
  acquire: ({ lent }) => lent.acquire("key", { wait: "1s" }).then(({ allowed }) => (allowed ? "done" : "denied")),
  fill: ({ small }) => Promise.allSettled(Array.from({ length: 20 }, (_, i) => small.take("x".repeat(200) + i))),
  fits: ({ small }) => small.take("key").then(() => "done", ({ code }) => code),
  lock: ({ lock }) => lock.withLock(() => "done", { wait: "2s", lease: "1s" }),
  // Nobody waits for them.
  forget: ({ series, asked, counters, leased, queue, circuit }) => {
    const works = [series.stats(), asked.stats(), counters.read(), leased.take("key"), queue.counts(), circuit.flush()];
    for (const work of works) work.catch(() => {});
    return "done";
  },
  queue: ({ queue }) => queue.add({ hello: 1 }).then(() => "done"),
  // What is there in the end.
  upForMs: async ({ store }) => Date.now() - store.health.since,
  seriesCount: async ({ series }) => String((await series.stats()).count),
  counted: async ({ counters }) => String((await counters.read()).reduce((sum, { count }) => sum + count, 0)),
  fleetCount: async ({ fleet }) => String((await fleet.read("pay")).success()),
};
export default {
  async fetch(request) {
    const { pathname, search } = new URL(request.url);
    const answer = (async () => routes[pathname.slice(1)](shared))().catch(String);
    const isLeft = search && new Promise((resolve) => setTimeout(resolve, Number(search.slice(1)), "left"));
    return new Response(String(await (isLeft || answer)));
  },
};
`;

const folder = temporaryFolder();
const script = join(folder, "worker.mjs");
let server: RedisServer;
let rest: RestServer;
let worker: Miniflare;
beforeAll(async () => {
  server = await startRedis();
  rest = await startRest(server.url);
  const stdin = { contents: WORKER, resolveDir: root, sourcefile: "worker.mjs" };
  const define = { REST_URL: JSON.stringify(rest.url), REST_TOKEN: JSON.stringify(rest.token) };
  const built = await build({ stdin, define, bundle: true, write: false, format: "esm", platform: "browser" });
  writeFileSync(script, built.outputFiles[0]!.text);
  worker = new Miniflare({
    modules: [{ type: "ESModule", path: script }],
    modulesRoot: folder,
    compatibilityDate: "2025-05-31",
    cf: false,
  });
});
afterAll(async () => {
  await worker?.dispose();
  await rest?.stop();
  await server?.stop();
});

/** How often each route was answered. */
const answered = new Map<string, number>();
async function ask(route: string, signal = AbortSignal.timeout(60_000)): Promise<string> {
  const answer = await (await worker.dispatchFetch(`http://localhost/${route}`, { signal })).text();
  if (answer === "done") answered.set(route, (answered.get(route) ?? 0) + 1);
  return answer;
}

/** A request whose client goes while the server is silent, or that ends then, and waits for nothing. */
async function abandon(route: string, isAborted: boolean): Promise<void> {
  rest.faultOf = () => ({ hold: new Promise(() => {}) });
  const seen = rest.requests.length;
  const abort = new AbortController();
  const gone = isAborted ? ask(route, abort.signal).catch(() => "aborted") : ask(`${route}?50`);
  await until("the server has the request", () => rest.requests.length > seen);
  if (isAborted) abort.abort();
  expect(await gone).toBe(isAborted ? "aborted" : "left");
  rest.faultOf = undefined;
}

const ROUTES = [
  ...["record", "recordAndGet", "recordMany", "stats", "copied", "hand", "probe"],
  ...["add", "flush", "lease", "acquire", "lock", "queue"],
];

beforeEach(() => {
  rest.faultOf = undefined;
});

describe("one structure for all requests of a Worker", () => {
  test.each(ROUTES)("serves '%s' after requests that have ended", async (route) => {
    for (const isAborted of [false, true, false]) {
      await abandon(route, isAborted);
      expect(await ask(route)).toBe("done");
    }
    // Not each waits for the one before: that one's end would take with it what it does for the others.
    const together = Array.from({ length: 5 }, () => ask(route));
    expect((await Promise.all(together)).join()).toMatch(route === "probe" ? /^((done|open),?){5}$/ : /^(done,?){5}$/);
  });

  test("serves all requests after one that did not wait for its call", async () => {
    expect(await ask("forget")).toBe("done");
    for (const route of ROUTES) expect(await ask(route)).toBe("done");
  });

  test("closes a due chunk after the request that began to has ended", async () => {
    const isRotation = (commands: Command[]) =>
      commands.some((words) => words.some((word) => /\{long\}:\d+$/.test(word)));
    rest.faultOf = (commands) => (isRotation(commands) ? { hold: new Promise(() => {}) } : undefined);
    const seen = () => rest.requests.filter(({ commands }) => isRotation(commands)).length;
    while (seen() === 0) await ask("long?400");
    rest.faultOf = undefined;
    const before = seen();
    expect(await ask("long")).toBe("done");
    const after = seen();
    expect(after).toBeGreaterThan(before);
    // The chunk that is open is not due.
    expect(await ask("long")).toBe("done");
    expect(seen()).toBe(after);
  });

  test("buffers events while the server is silent, and sends them when it is back", async () => {
    expect(await ask("keep")).toBe("done");
    rest.faultOf = () => ({ hold: new Promise(() => {}) });
    // Of the first nobody knows that it was not run.
    for (let i = 0; i < 4; i++) expect(await ask("keep")).toBe("local");
    expect(await ask("keptCount")).toBe("4");
    rest.faultOf = undefined;
    let count = 5;
    const keep = () => ++count && ask("keep");
    await until("it is back", async () => (await keep()) === "done");
    expect(await ask("storedCount")).toBe(String(count - 1));
  });

  test("has room for calls again after requests with unfinished calls have ended", async () => {
    await abandon("fill", false);
    expect(await ask("fits")).toBe("OVERLOADED");
    await until("there is room", async () => (await ask("fits")) === "done");
  });

  test("is up since its first answer, not since the module was loaded, on clocks that stand still", async () => {
    const upForMs = Number(await ask("upForMs"));
    expect(upForMs).toBeGreaterThanOrEqual(0);
    expect(upForMs).toBeLessThan(600_000);
  });

  test("counts acknowledged events once", async () => {
    const times = (route: string) => answered.get(route)!;
    const check = async (route: string, acknowledged: number, aborted: number) => {
      const count = Number(await ask(route));
      expect(count).toBeGreaterThanOrEqual(acknowledged);
      // workerd may go on with a request whose client is gone.
      expect(count).toBeLessThanOrEqual(acknowledged + aborted);
    };
    await check("seriesCount", times("record") + times("recordAndGet") + 2 * times("recordMany"), 4);
    await check("counted", times("add"), 1);
    // Counts of an ended request belong to this isolate, and travel with the next request.
    expect(await ask("fleetCount")).toBe(String(times("flush") + 3));
  });
});
