// One store, limiter and breaker for all requests of a Worker: what one request began and left must not hold up the next.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { type RestServer, startRest } from "../../harness/servers/rest-server.ts";
import { until } from "../../harness/until.ts";
import { root } from "../../house/sources.ts";
import { temporaryFolder } from "../bundles/bundle.ts";

/** It ends requests that the server leaves without an answer. */
const DEADLINE_MS = 2000;
const WORKER = `
import { Breaker, httpStore, Limiter, slidingWindow } from "./src/entries/slim.ts";
let shared;
const started = (env) => {
  const store = httpStore({ url: env.URL, token: env.TOKEN, deadline: ${DEADLINE_MS} });
  const limiter = new Limiter(store, [slidingWindow({ limit: 1000, span: "1m" })], { name: "shared" });
  return { url: env.URL, store, limiter, breaker: new Breaker("local", { span: "1m", failures: 50, cooldown: "5s" }) };
};
const codeOf = (error) => error.code ?? String(error);
const routes = {
  take: ({ limiter }) => limiter.take("key").then(() => "taken", codeOf),
  forget: ({ limiter }) => limiter.take("key").catch(() => {}) && "gone",
  // A function of no parameters that uses its signal all the same.
  run: ({ breaker, url }) =>
    breaker.run((...given) => fetch(url, { signal: given[0] }).then(() => "hello")).catch(codeOf),
  health: ({ store }) => store.health.state,
};
export default {
  async fetch(request, env) {
    shared ??= started(env);
    return new Response(await routes[new URL(request.url).pathname.slice(1)](shared));
  },
};
`;

const folder = temporaryFolder();
const script = join(folder, "worker.mjs");
let server: RedisServer;
let rest: RestServer;
beforeAll(async () => {
  server = await startRedis();
  rest = await startRest(server.url);
  const stdin = { contents: WORKER, resolveDir: root, sourcefile: "worker.mjs" };
  const built = await build({ stdin, bundle: true, write: false, format: "esm", platform: "browser" });
  writeFileSync(script, built.outputFiles[0]!.text);
});
afterAll(async () => {
  await rest?.stop();
  await server?.stop();
});

describe.each([
  ["nothing of Node", []],
  ["nodejs_compat, which has setImmediate", ["nodejs_compat"]],
])("requests of one Worker with %s", (_name, compatibilityFlags) => {
  let worker: Miniflare;
  beforeEach(() => {
    rest.faultOf = undefined;
    worker = new Miniflare({
      modules: [{ type: "ESModule", path: script }],
      modulesRoot: folder,
      compatibilityDate: "2025-05-31",
      compatibilityFlags,
      bindings: { URL: rest.url, TOKEN: rest.token },
      cf: false,
    });
    return () => worker.dispose();
  });
  const ask = async (route: string, signal = AbortSignal.timeout(60_000)) =>
    (await worker.dispatchFetch(`http://localhost/${route}`, { signal })).text();
  const silent = () => {
    rest.faultOf = () => ({ hold: new Promise(() => {}) });
  };
  const recovers = () => until("calls are answered", async () => (await ask("take")) === "taken");

  test("run functions through one breaker, each with its own signal", async () => {
    expect([await ask("run"), await ask("run")]).toEqual(["hello", "hello"]);
    expect(await Promise.all([ask("run"), ask("run")])).toEqual(["hello", "hello"]);
  });

  test("are served after one that did not wait for its call", async () => {
    for (let i = 0; i < 3; i++) {
      expect(await ask("forget")).toBe("gone");
      expect(await ask("take")).toBe("taken");
    }
  });

  test("are served after one that was aborted during its wait", async () => {
    expect(await ask("take")).toBe("taken");
    silent();
    const seen = rest.requests.length;
    const abort = new AbortController();
    const aborted = ask("take", abort.signal).catch(() => "aborted");
    await until("the server has the request", () => rest.requests.length > seen);
    abort.abort();
    expect(await aborted).toBe("aborted");
    rest.faultOf = undefined;
    expect(await ask("take")).toBe("taken");
  });

  test("fail fast while the server is silent, whichever request began the probe, and succeed when it is back", async () => {
    expect(await ask("take")).toBe("taken");
    silent();
    // The first is gone before it has asked once more; the second, after LOST_MS, waits for its own deadline.
    expect(await ask("take")).toMatch(/DEADLINE|UNAVAILABLE/);
    await until("calls fail at once", async () => (await ask("take")) === "UNAVAILABLE");
    expect(await ask("health")).toBe("down");
    rest.faultOf = undefined;
    await recovers();
    expect(await ask("health")).toBe("up");
  });
});
