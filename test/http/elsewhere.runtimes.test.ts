// The middleware on servers without Node: Bun, Deno and workerd. Each serves, asks itself, and reports.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bundled, temporaryFolder } from "../runtimes/bundles/bundle.ts";
import { inRuntime } from "../runtimes/engines/in-runtime.ts";
import { reportOf } from "../runtimes/report.ts";
import { answersOf } from "../runtimes/worker.ts";

const folder = temporaryFolder();
const nodePaths = [fileURLToPath(new URL("node_modules", import.meta.url))];

/** An application in Hono and a fetch handler behind limiters. `upgrade` makes a WebSocket of a request. */
const APP = `
import { Hono } from "hono";
import { concurrency, Limiter, memoryStore, slidingWindow } from "oriel/limiter";
import { clientKey, fetchLimiter, honoLimiter } from "oriel/http";

function application(upgrade, lends) {
  const policies = [slidingWindow({ limit: 100, span: "1m" }), ...(lends ? [concurrency({ limit: 1, lease: "1h" })] : [])];
  const [limiter, other] = ["hono", "fetch"].map((name) => new Limiter(memoryStore(), policies, { name }));
  const shared = new Response(null, { status: 204, headers: { "x-own": "kept" } });
  const answers = {
    "/text": () => new Response("hello"),
    "/json": () => Response.json({ a: 1 }),
    "/stream": () => new Response(new Response("in parts").body, { headers: { "content-type": "text/css" } }),
    "/shared": () => shared,
    "/redirect": () => Response.redirect("http://a.test/"),
    "/upgrade": upgrade,
  };
  const app = new Hono();
  app.onError((error) => new Response(error.message, { status: 500 }));
  app.use(honoLimiter(limiter));
  app.get("/nothing", () => {});
  app.get("*", (c) => answers[c.req.path](c.req.raw, c.env));
  const addresses = new WeakMap();
  const key = (request) => clientKey(addresses.get(request));
  const limited = fetchLimiter(other, (request, ...rest) => answers[new URL(request.url).pathname.slice(2)](request, ...rest), { key });
  const fetch = (request, env, ...rest) => {
    if (!new URL(request.url).pathname.startsWith("/f/")) return app.fetch(request, env, ...rest);
    addresses.set(request, env?.requestIP?.(request)?.address ?? env?.remoteAddr?.hostname ?? request.headers.get("cf-connecting-ip"));
    return limited(request, env, ...rest);
  };
  /** The answers to all paths, and what each client has left. */
  const report = async (ask, address) => {
    const rows = {};
    for (const way of ["", "/f"])
      for (const path of ["/text", "/json", "/stream", "/shared", "/shared", "/redirect"]) {
        const response = await ask(way + path);
        const body = await response.text();
        for (let i = 0; lends && i < 100 && (await (way ? other : limiter).peek(address)).remaining === 0; i++)
          await new Promise((resolve) => setTimeout(resolve, 20));
        const type = response.headers.get("content-type")?.replace(/[; ].*/, "") ?? null;
        (rows[way + path] ??= []).push([response.status, body, type, response.headers.get("ratelimit")?.replace(/, .*/, "")]);
      }
    const nothing = await ask("/nothing");
    const left = [];
    for (const each of [limiter, other])
      for (const id of [address, "no address"]) left.push((await each.peek(id)).policies.map(({ remaining }) => remaining));
    return { rows, nothing: [nothing.status, await nothing.text()], left, shared: [...shared.headers] };
  };
  return { fetch, report };
}
`;

const SERVER = `${APP}
const isDeno = "Deno" in globalThis;
const upgrade = (request, server) => {
  if (!isDeno) return void server.upgrade(request) ?? (request.url.includes("/f/") ? undefined : new Response(null));
  const { socket, response } = Deno.upgradeWebSocket(request);
  socket.onopen = () => socket.send("open");
  return response;
};
const reports = [];
for (const lends of [false, true]) {
  const { fetch: handler, report } = application(upgrade, lends);
  const websocket = { open: (socket) => socket.send("open"), message() {} };
  const where = { port: 0, hostname: "127.0.0.1" };
  const server = isDeno ? Deno.serve({ ...where, onListen() {} }, handler) : Bun.serve({ ...where, fetch: handler, websocket });
  const port = isDeno ? server.addr.port : server.port;
  const made = await report((path) => fetch("http://127.0.0.1:" + port + path, { redirect: "manual" }), "127.0.0.1");
  const sockets = [];
  for (const way of ["", "/f"])
    sockets.push(await new Promise((resolve) => {
      const socket = new WebSocket("ws://127.0.0.1:" + port + way + "/upgrade");
      socket.onmessage = ({ data }) => (resolve(data), socket.close());
      socket.onerror = () => resolve("failed");
    }));
  reports.push({ ...made, sockets });
  isDeno ? await server.shutdown() : server.stop(true);
}
console.log(JSON.stringify(reports));
`;

const WORKER = `${APP}
const upgrade = () => {
  const [client, socket] = Object.values(new WebSocketPair());
  socket.accept();
  socket.send("open");
  return new Response(null, { status: 101, webSocket: client });
};
export default {
  async fetch() {
    const reports = [];
    for (const lends of [false, true]) {
      const { fetch: handler, report } = application(upgrade, lends);
      const cf = { colo: "AMS" };
      const asked = (path, headers = {}) =>
        handler(new Request("https://a.test" + path, { headers: { "cf-connecting-ip": "127.0.0.1", ...headers }, cf }), {});
      const made = await report(asked, "127.0.0.1");
      const sockets = [];
      for (const way of ["", "/f"]) {
        const { webSocket } = await asked(way + "/upgrade", { upgrade: "websocket" });
        webSocket.accept();
        sockets.push(await new Promise((resolve) => webSocket.addEventListener("message", ({ data }) => resolve(data))));
      }
      reports.push({ ...made, sockets });
    }
    return Response.json(reports);
  },
};
`;

const bundle = (main: string) => bundled(main, { nodePaths, conditions: ["worker", "browser"] });

/** Checks both reports of a server. `typeWithPermit` is the type of a text while a permit is lent. */
function expectRight(reports: unknown, typeWithPermit: string | null): void {
  const item = (left: number) => `"sliding-window";r=${left};t=60`;
  const rows = (way: string, type: string | null) => ({
    [`${way}/text`]: [[200, "hello", type, item(99)]],
    [`${way}/json`]: [[200, '{"a":1}', "application/json", item(98)]],
    [`${way}/stream`]: [[200, "in parts", "text/css", item(97)]],
    [`${way}/shared`]: [96, 95].map((left) => [204, "", null, item(left)]),
    [`${way}/redirect`]: [[302, "", null, item(94)]],
  });
  const report = (type: string | null, permits: number[]) => ({
    rows: { ...rows("", type), ...rows("/f", type) },
    nothing: [500, expect.stringContaining("Context is not finalized")],
    left: [93, 100, 94, 100].map((left) => [left, ...permits]),
    shared: [["x-own", "kept"]],
    sockets: ["open", "open"],
  });
  expect(reports).toEqual([report("text/plain", []), report(typeWithPermit, [1])]);
}

inRuntime("Bun", (bun) => {
  test("answers as without a limiter, and counts by address", async () => {
    const main = join(folder, "bun.mjs");
    writeFileSync(main, await bundle(SERVER));
    // Bun gives a text its type when it is sent, and a body that is watched has none by then.
    expectRight(await reportOf(bun, ["run", main], folder), null);
  });
});

inRuntime("Deno", (deno) => {
  test("answers as without a limiter, and counts by address", async () => {
    const main = join(folder, "deno.mjs");
    writeFileSync(main, await bundle(SERVER));
    expectRight(await reportOf(deno, ["run", "--allow-net", main], folder), "text/plain");
  });
});

test.each(["2024-01-01", "2025-05-31"])("workerd, as of %s: the same", async (date) => {
  const main = join(folder, "worker.mjs");
  writeFileSync(main, await bundle(WORKER));
  const [reports] = await answersOf(main, { date });
  expectRight(reports, "text/plain");
});
