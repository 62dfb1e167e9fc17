import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import { expressLimiter, fastifyLimiter, fetchLimiter, honoLimiter } from "../../src/entries/http.ts";
import { concurrency, fixedWindow, gcra, Limiter, memoryStore, slidingWindow } from "../../src/entries/index.ts";
import { atEnd } from "../harness/ends.ts";
import { until } from "../harness/until.ts";
import { temporaryFolder } from "../runtimes/bundles/bundle.ts";

const LIMIT = 2;
const limiterOf = () => new Limiter(memoryStore(), [slidingWindow({ limit: LIMIT, span: "1m" })], { name: "l" });

const warned: string[] = [];
const note = ({ message }: Error) => void warned.push(message);
process.on("warning", note);
afterEach(() => void warned.splice(0));

describe("an answer that is not the limiter's own", () => {
  it("a handler's one Response for all requests stays as it is", async () => {
    const shared = new Response(null, { status: 204, headers: { "X-Own": "kept" } });
    const limiter = new Limiter(memoryStore(), [slidingWindow({ limit: 1e6, span: "1m" })], { name: "l" });
    const limited = fetchLimiter(limiter, () => shared, {
      key: (request) => request.headers.get("x-user") ?? "",
      partitionKey: (id) => id,
    });
    for (let i = 0; i < 50; i++) {
      const response = await limited(new Request("https://shop.test/", { headers: { "x-user": `u${i}` } }));
      expect([response.status, response.headers.get("x-own")]).toEqual([204, "kept"]);
      expect(response.headers.get("RateLimit")).toBe(`"sliding-window";r=999999;t=60;pk=:${btoa(`u${i}`)}:`);
    }
    expect([...shared.headers]).toEqual([["x-own", "kept"]]);
  });

  it("a Response whose body is being read, and an error, pass as they are", async () => {
    const read = new Response("read");
    await read.text();
    const locked = new Response("locked");
    locked.body!.getReader();
    for (const response of [read, locked, Response.error()])
      expect(await fetchLimiter(limiterOf(), () => response, { key: () => "a" })(new Request("https://a.test/"))).toBe(
        response,
      );
  });

  it.each([
    ["free", [fixedWindow({ limit: 10, span: "1h" })], 9],
    ["denied", [fixedWindow({ limit: 0, span: "1h" })], 0],
    ["concurrency", [concurrency({ limit: 1, lease: "1h" })], 1],
  ])("a time-out that answers first: no error, and the connection stays open (%s)", async (name, policies, left) => {
    const store = memoryStore();
    let answerNow = () => {};
    const isAnswered = new Promise<void>((resolve) => {
      answerNow = resolve;
    });
    const slow = {
      ...store,
      run: async (...call: Parameters<typeof store.run>) => isAnswered.then(() => store.run(...call)),
    };
    const limiter = new Limiter(slow as typeof store, policies, { name });
    const errors: unknown[] = [];
    const app = express();
    app.use((_request, response, next) => {
      response.status(503).end("late");
      next();
    });
    app.use(expressLimiter(limiter, { key: () => "u" }));
    app.use((_request, response, next) => (response.headersSent ? undefined : next()));
    app.use((error: unknown, _request: unknown, _response: unknown, next: () => void) => {
      errors.push(error);
      next();
    });
    const server = app.listen(0);
    atEnd(() => server.close());
    const { port } = server.address() as AddressInfo;
    const agent = new http.Agent({ keepAlive: true });
    atEnd(() => agent.destroy());
    const ask = () =>
      new Promise<[status: number | undefined, connection: Socket]>((resolve, reject) => {
        const answered = (message: IncomingMessage) => {
          const { socket } = message;
          message.resume().on("end", () => resolve([message.statusCode, socket]));
        };
        http.get({ port, agent }, answered).on("error", reject);
      });
    const [status, connection] = await ask();
    expect(status).toBe(503);
    answerNow();
    await until("the permit is as it should be", async () => (await limiter.peek("u")).remaining === left);
    expect(errors).toEqual([]);
    expect(connection.destroyed).toBe(false);
    expect(await ask()).toEqual([503, connection]);
  });
});

describe("a request without an address", () => {
  const get = (socketPath: string) =>
    new Promise<number>((resolve, reject) => {
      http.get({ socketPath, path: "/" }, (message) => resolve(message.resume().statusCode!)).on("error", reject);
    });
  const folder = temporaryFolder();
  const serverOf: Record<string, (path: string) => Promise<{ close(): unknown }>> = {
    async Node(path) {
      const limit = expressLimiter(limiterOf());
      const server = http.createServer((request, response) =>
        limit(request, response as ServerResponse, (error) => response.writeHead(error ? 500 : 200).end()),
      );
      await new Promise<void>((resolve) => void server.listen(path, resolve));
      return server;
    },
    async Express(path) {
      const app = express();
      app.use(expressLimiter(limiterOf()));
      app.get("/", (_request, response) => void response.send("x"));
      return new Promise((resolve) => {
        const server = app.listen(path, () => resolve(server));
      });
    },
    async Fastify(path) {
      const app = fastify();
      app.addHook("onRequest", fastifyLimiter(limiterOf()));
      app.get("/", () => "x");
      await app.listen({ path });
      return app;
    },
    async Hono(path) {
      const app = new Hono();
      app.use(honoLimiter(limiterOf()));
      app.get("/", (c) => c.text("x"));
      const server = createAdaptorServer({ fetch: app.fetch });
      await new Promise<void>((resolve) => void server.listen(path, resolve));
      return server;
    },
  };

  it.each(Object.keys(serverOf))("%s on a unix socket: all count as one client", async (name) => {
    const path = join(folder, name);
    const server = await serverOf[name]!(path);
    atEnd(() => server.close());
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push(await get(path));
    expect(statuses).toEqual([200, 200, 429, 429]);
  });

  it("a client that left before the limiter was asked is no error; the process is warned once", async () => {
    const seen: unknown[] = [];
    let gone = () => {};
    const isGone = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const app = express();
    app.use((request, _response, next) => {
      request.socket.once("close", () => setImmediate(gone));
      void isGone.then(() => next());
    });
    app.use(expressLimiter(limiterOf()));
    app.use((_request, _response) => void seen.push("passed"));
    app.use((error: unknown, _request: unknown, _response: unknown, _next: unknown) => void seen.push(error));
    const server = app.listen(0);
    atEnd(() => server.close());
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n", () => socket.destroy());
    await until("it was decided", () => seen.length > 0);
    expect(seen).toEqual(["passed"]);
  });

  it("the process is warned once for each middleware and reason", async () => {
    const limit = fastifyLimiter(limiterOf());
    const reply = { getHeader: () => undefined, header: () => reply, code: () => reply, send: () => reply, raw: {} };
    for (const ip of ["no address 1", "no address 2", undefined, "", undefined])
      await limit({ ip } as never, reply as never);
    await until("the warnings", () => warned.length > 0);
    expect(warned).toEqual([
      'fastifyLimiter: "no address 1" is no client address; all such requests count as one client; pass a key of each client',
    ]);
  });
});

describe("a client that paces itself by the policy's fields", () => {
  it.each([
    ["gcra with a burst", gcra({ limit: 100, span: "1m", burst: 20 }), "q=20;w=12"],
    ["gcra that spaces calls", gcra({ limit: 60, span: "1m", burst: 1 }), "q=1;w=1"],
    ["gcra with a burst above its limit", gcra({ limit: 10, span: "1m", burst: 30 }), "q=30;w=180"],
    ["gcra", gcra({ limit: 100, span: "1m" }), "q=100;w=60"],
    ["a sliding window", slidingWindow({ limit: 30, span: "1m" }), "q=30;w=60"],
    ["a fixed window", fixedWindow({ limit: 30, span: "1m" }), "q=30;w=60"],
  ])("%s: is never denied, and reaches the full rate", async (_name, policy, field) => {
    const clock = { nowMs: 1e12 };
    const limiter = new Limiter(memoryStore({ clock: () => clock.nowMs }), [policy], { name: "paced" });
    const limited = fetchLimiter(limiter, () => new Response("x"), { key: () => "a" });
    const ask = () => limited(new Request("https://a.test/"));
    const first = await ask();
    expect(first.headers.get("RateLimit-Policy")).toBe(`"${policy.name}";${field}`);
    const [, q, w] = /q=(\d+);w=(\d+)/.exec(field)!.map(Number);
    const beganMs = clock.nowMs;
    let passed = 1;
    for (; passed < 300; passed++) {
      clock.nowMs += Math.ceil((w! * 1000) / q!);
      expect((await ask()).status).toBe(200);
    }
    // As many as the policy grants in this time. Each pause is rounded up to a ms.
    expect(passed / ((clock.nowMs - beganMs) / 1000)).toBeGreaterThan((q! / w!) * 0.99);
  });
});
