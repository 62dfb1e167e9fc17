import http, { type IncomingMessage, type ServerResponse } from "node:http";
import http2 from "node:http2";
import { createRequire } from "node:module";
import { type AddressInfo, connect, type Socket } from "node:net";
import { join } from "node:path";
import { createAdaptorServer } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import express from "express";
import fastify, { type FastifyReply } from "fastify";
import { Hono } from "hono";
import { afterEach, describe, expect, it, vi } from "vitest";
import { expressLimiter, fastifyLimiter, fetchLimiter, honoLimiter } from "../../src/entries/http.ts";
import {
  concurrency,
  fixedWindow,
  gcra,
  Limiter,
  leakyBucket,
  memoryStore,
  slidingWindow,
} from "../../src/entries/index.ts";
import { atEnd } from "../harness/ends.ts";
import { until } from "../harness/until.ts";
import { temporaryFolder } from "../runtimes/bundles/bundle.ts";

const express4 = createRequire(import.meta.url)("express4") as typeof express;
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

  const decisions = [
    ["free", [fixedWindow({ limit: 10, span: "1h" })], 9],
    ["denied", [fixedWindow({ limit: 0, span: "1h" })], 0],
    ["concurrency", [concurrency({ limit: 1, lease: "1h" })], 1],
  ] as const;
  it.each(
    decisions.flatMap((decision) => [
      ["Express 5", express, ...decision] as const,
      ["Express 4", express4, ...decision] as const,
    ]),
  )(
    "%s: a time-out that answers first: no error, and the connection stays open (%s)",
    async (_, framework, name, policies, left) => {
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
      const app = framework();
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
    },
  );

  it.each([
    ["answers", (reply: FastifyReply) => void reply.code(503).send("late")],
    ["writes to Node's response", (reply: FastifyReply) => void reply.hijack().raw.writeHead(503).end("late")],
  ])("Fastify: somebody %s first: a denied request is not answered again", async (_how, answerFirst) => {
    const errors: unknown[] = [];
    const app = fastify();
    app.setErrorHandler((error) => errors.push(error));
    const limit = fastifyLimiter(new Limiter(memoryStore(), [fixedWindow({ limit: 0, span: "1h" })], { name: "l" }), {
      onDenied: (_request, reply: FastifyReply) => reply.raw.writeHead(429).end(),
    });
    let decided = 0;
    app.addHook("onRequest", async (request, reply) => {
      answerFirst(reply);
      await limit(request, reply);
      decided++;
    });
    app.get("/", () => errors.push("the handler was called"));
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    atEnd(() => app.close());
    const answer = await fetch(url);
    expect([answer.status, await answer.text()]).toEqual([503, "late"]);
    await until("it was decided", () => decided === 1);
    expect(errors).toEqual([]);
  });

  it.each([false, undefined] as const)(
    "without fields (headers: %s) a Response is passed on, or copied",
    async (headers) => {
      const own = new Response("x");
      const limited = fetchLimiter(limiterOf(), () => own, { key: () => "a", headers });
      expect((await limited(new Request("https://a.test/"))) === own).toBe(headers === false);
    },
  );

  it.each([[[]], [[concurrency({ limit: 9, lease: "1h" })]]])(
    "a handler that upgraded and returns nothing",
    async (more) => {
      const limiter = new Limiter(memoryStore(), [slidingWindow({ limit: 2, span: "1h" }), ...more], { name: "l" });
      const limited = fetchLimiter(limiter, () => undefined as never, { key: () => "a" });
      expect(await limited(new Request("https://a.test/"))).toBe(undefined);
      await until(
        "the permit is back",
        async () => (await limiter.peek("a")).policies.at(-1)!.remaining >= 1 + 8 * more.length,
      );
    },
  );

  it("a locked body passes as it is with a permit too", async () => {
    const limiter = new Limiter(memoryStore(), [concurrency({ limit: 1, lease: "1h" })], { name: "l" });
    const locked = new Response("locked");
    locked.body!.getReader();
    const limited = fetchLimiter(limiter, () => locked, { key: () => "a" });
    expect(await limited(new Request("https://a.test/"))).toBe(locked);
    await until("the permit is back", async () => (await limiter.peek("a")).remaining === 1);
  });
});

/** Policies without and with a permit that returns at the end of the answer. */
const KINDS = {
  window: [slidingWindow({ limit: 100, span: "1m" })],
  "window and concurrency": [slidingWindow({ limit: 100, span: "1m" }), concurrency({ limit: 1, lease: "1h" })],
};
const allBack = (limiter: Limiter, id: string) =>
  until("all permits are back", async () => {
    const held = (await limiter.peek(id)).policies.filter(
      ({ kind, remaining }) => kind === "concurrency" && remaining < 1,
    );
    return held.length === 0;
  });

describe.each(Object.entries(KINDS))("@hono/node-server, %s", (_kind, policies) => {
  /** A server of the handler, behind a limiter in Hono or in a fetch handler, and what it logs as errors. */
  const start = async (way: string, handler: (env: never) => Response | Promise<Response>) => {
    const limiter = new Limiter(memoryStore(), policies, { name: "l" });
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    atEnd(() => logged.mockRestore());
    const app = new Hono();
    app.use(honoLimiter(limiter));
    app.all("*", (c) => handler(c.env as never));
    const limited = fetchLimiter(limiter, (_request: Request, env: never) => handler(env), { key: () => "127.0.0.1" });
    const server = createAdaptorServer({ fetch: way === "Hono" ? app.fetch : (limited as never) });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    atEnd(() => server.close());
    return { limiter, logged, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  };
  const item = (left: number) =>
    expect.stringMatching(new RegExp(`^"sliding-window";r=${left};t=60(, "concurrency";r=0)?$`));

  it.each(
    ["Hono", "a fetch handler"].flatMap((way) => [
      [way, "a text", () => new Response("hello", { status: 201 }), "hello"] as const,
      [way, "JSON", () => Response.json({ a: 1 }, { status: 201 }), '{"a":1}'] as const,
      [way, "bytes", () => new Response(new TextEncoder().encode("abc"), { status: 201 }), "abc"] as const,
      [way, "no body", () => new Response(null, { status: 201 }), ""] as const,
    ]),
  )("%s: one Response with %s for all requests stays as it is", async (way, _what, make, text) => {
    let shared: Response | undefined;
    const { limiter, logged, url } = await start(way, () => {
      shared ??= make(); // once the server has replaced the global Response
      return shared;
    });
    for (const left of [99, 98, 97]) {
      const answer = await fetch(url);
      expect([answer.status, await answer.text(), answer.headers.get("ratelimit")]).toEqual([201, text, item(left)]);
      await allBack(limiter, "127.0.0.1");
    }
    expect([...shared!.headers.keys()].filter((name) => name.startsWith("ratelimit"))).toEqual([]);
    expect(logged).not.toHaveBeenCalled();
  });

  it.each(["Hono", "a fetch handler"])("%s: a handler that answers by Node's response", async (way) => {
    const before = [...RESPONSE_ALREADY_SENT.headers];
    const { limiter, logged, url } = await start(way, (env: { outgoing: ServerResponse }) => {
      env.outgoing.writeHead(202).end("by hand");
      return RESPONSE_ALREADY_SENT;
    });
    for (let i = 0; i < 3; i++) {
      const answer = await fetch(url);
      expect([answer.status, await answer.text()]).toEqual([202, "by hand"]);
      await allBack(limiter, "127.0.0.1");
    }
    expect([...RESPONSE_ALREADY_SENT.headers]).toEqual(before);
    expect(logged).not.toHaveBeenCalled();
  });

  it.each(["Hono", "a fetch handler"])("%s: an upstream's fields, cookies and a stream", async (way) => {
    const upstream = http.createServer((_request, response) => {
      response.setHeader("RateLimit", '"up";r=1').setHeader("Set-Cookie", ["a=1", "b=2"]).write("first ");
      setImmediate(() => response.end("last"));
    });
    await new Promise<void>((resolve) => void upstream.listen(0, "127.0.0.1", resolve));
    atEnd(() => upstream.close());
    const { limiter, logged, url } = await start(way, () =>
      fetch(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}/`),
    );
    const answer = await fetch(url);
    expect(await answer.text()).toBe("first last");
    expect(answer.headers.get("ratelimit")).toMatch(/^"up";r=1, "sliding-window";r=99;t=60/);
    expect(answer.headers.getSetCookie()).toEqual(["a=1", "b=2"]);
    await allBack(limiter, "127.0.0.1");
    expect(logged).not.toHaveBeenCalled();
  });

  it("Hono: a handler without an answer is the error that it is without a limiter", async () => {
    for (const env of [undefined, { incoming: {}, outgoing: new http.ServerResponse({ method: "GET" } as never) }]) {
      const app = new Hono();
      const errors: string[] = [];
      app.onError((error, c) => {
        errors.push(error.message);
        return c.text("failed", 500);
      });
      app.use(honoLimiter(limiterOf(), { key: () => "a" }));
      app.get("/", () => undefined as never);
      expect((await app.request("/", {}, env)).status).toBe(500);
      expect(errors).toEqual([expect.stringContaining("Context is not finalized")]);
    }
  });
});

describe.each(Object.entries(KINDS))("HTTP/2, %s", (_kind, policies) => {
  type Start = (limiter: Limiter, errors: unknown[], late: () => Promise<void>) => Promise<number>;
  const portOf = ({ address }: { address(): unknown }) => (address() as AddressInfo).port;
  const starts: Record<string, Start> = {
    async "plain Node"(limiter, errors, late) {
      const limit = expressLimiter<http2.Http2ServerRequest, http2.Http2ServerResponse>(limiter);
      const server = http2.createServer(async (request, response) => {
        if (request.url === "/late") await late();
        void limit(request, response, (error) => {
          if (error !== undefined) errors.push(error);
          response.end("x");
        });
      });
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
      atEnd(() => server.close());
      return portOf({ address: () => server.address() });
    },
    async Fastify(limiter, errors, late) {
      const app = fastify({ http2: true });
      app.setErrorHandler((error) => errors.push(error));
      app.addHook("onRequest", async ({ url }) => (url === "/late" ? late() : undefined));
      app.addHook("onRequest", fastifyLimiter(limiter));
      app.get("/*", () => "x");
      await app.listen({ port: 0, host: "127.0.0.1" });
      atEnd(() => app.close());
      return portOf({ address: () => app.server.address() });
    },
    async Hono(limiter, errors, late) {
      const app = new Hono();
      app.onError((error, c) => {
        errors.push(error);
        return c.text("failed", 500);
      });
      app.use("/late", async (_c, next) => late().then(next));
      app.use(honoLimiter(limiter));
      app.get("/*", (c) => c.text("x"));
      const server = createAdaptorServer({ fetch: app.fetch, createServer: http2.createServer });
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
      atEnd(() => server.close());
      return portOf({ address: () => server.address() });
    },
  };

  it.each(Object.keys(starts))(
    "%s: GET, HEAD, a stream that is reset and a session that ends meanwhile",
    async (name) => {
      const limiter = new Limiter(memoryStore(), policies, { name: "l" });
      const errors: unknown[] = [];
      let reached = 0;
      let goOn = () => {};
      const isGone = () =>
        new Promise<void>((resolve) => {
          reached++;
          goOn = resolve;
        });
      const port = await starts[name]!(limiter, errors, isGone);
      const connect = () => http2.connect(`http://127.0.0.1:${port}`).on("error", () => {});
      for (const [i, method] of ["GET", "HEAD"].entries()) {
        const session = connect();
        const stream = session.request({ ":path": "/", ":method": method });
        const fields = await new Promise<http2.IncomingHttpHeaders>((resolve) =>
          stream.on("response", resolve).resume(),
        );
        expect([fields[":status"], fields.ratelimit]).toEqual([
          200,
          expect.stringContaining(`"sliding-window";r=${99 - i};`),
        ]);
        session.destroy();
        await allBack(limiter, "127.0.0.1");
      }
      const gone: ((session: http2.ClientHttp2Session, stream: http2.ClientHttp2Stream) => void)[] = [
        (_session, stream) => stream.close(http2.constants.NGHTTP2_CANCEL),
        (session) => session.destroy(),
      ];
      for (const [i, leave] of gone.entries()) {
        const session = connect();
        const stream = session.request({ ":path": "/late" }).on("error", () => {});
        await until("it has arrived", () => reached === i + 1);
        const closed = new Promise((resolve) => stream.once("close", resolve));
        leave(session, stream);
        await closed;
        const other = connect(); // answered after the server knows
        const answered = new Promise((resolve) => other.request({ ":path": "/" }).on("response", resolve).resume());
        await answered;
        goOn();
        await until("it was decided", async () => {
          const seen = await Promise.all(["127.0.0.1", "no address"].map((id) => limiter.peek(id)));
          return seen.reduce((sum, { policies: [window] }) => sum + 100 - window!.remaining, 0) === 2 + 2 * (i + 1);
        });
        for (const id of ["127.0.0.1", "no address"]) await allBack(limiter, id);
        session.destroy();
        other.destroy();
      }
      expect(errors).toEqual([]);
    },
  );
});

describe("informational answers", () => {
  it.each([
    ["Express 5", express],
    ["Express 4", express4],
  ])("%s: early hints before, 100 Continue, and the fields in the last answer", async (_name, framework) => {
    const app = framework();
    app.use((_request, response, next) => response.writeEarlyHints({ link: "</a.css>; rel=preload" }, next));
    app.use(expressLimiter(limiterOf()));
    app.post("/", (request, response) => void request.resume().on("end", () => response.send("x")));
    const server = app.listen(0);
    atEnd(() => server.close());
    const { port } = server.address() as AddressInfo;
    const seen: number[] = [];
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = http.request(
        { port, method: "POST", headers: { expect: "100-continue", connection: "close" } },
        resolve,
      );
      request.on("information", ({ statusCode }) => void seen.push(statusCode)).on("error", reject);
      request.on("continue", () => request.end("body"));
      request.flushHeaders();
    });
    answer.resume();
    expect([seen, answer.statusCode, answer.headers.ratelimit]).toEqual([[100, 103], 200, '"sliding-window";r=1;t=60']);
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
    ["gcra with an odd burst", gcra({ limit: 60, span: "1m", burst: 7 }), "q=7;w=7"],
    ["gcra of a day", gcra({ limit: 86_400, span: "1d", burst: 600 }), "q=600;w=600"],
    ["a leaky bucket", leakyBucket({ capacity: 30, span: "1m" }), "q=30;w=60"],
    ["a sliding window", slidingWindow({ limit: 30, span: "1m" }), "q=30;w=60"],
    ["a sliding window whose permits are no whole ms apart", slidingWindow({ limit: 7, span: "1m" }), "q=7;w=60"],
    ["a fixed window", fixedWindow({ limit: 30, span: "1m" }), "q=30;w=60"],
    ["an aligned fixed window", fixedWindow({ limit: 30, span: "1m", aligned: true }), "q=30;w=60"],
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

  it.each([
    ["gcra", gcra({ limit: 100, span: "1m", burst: 7 }), "q=7;w=5"],
    ["gcra that spaces calls", gcra({ limit: 100, span: "1m", burst: 1 }), "q=1;w=1"],
    ["a sliding window", slidingWindow({ limit: 10, span: 250 }), "q=10;w=1"],
    ["a fixed window", fixedWindow({ limit: 10, span: 1001 }), "q=10;w=2"],
    ["a leaky bucket", leakyBucket({ capacity: 3, span: 1500 }), "q=3;w=2"],
  ])("%s: a window of no whole seconds is rounded up, so that it is never denied", async (_name, policy, field) => {
    const clock = { nowMs: 1e12 };
    const limiter = new Limiter(memoryStore({ clock: () => clock.nowMs }), [policy], { name: "paced" });
    const limited = fetchLimiter(limiter, () => new Response("x"), { key: () => "a" });
    const [, q, w] = /q=(\d+);w=(\d+)/.exec(field)!.map(Number);
    for (let round = 0; round < 20; round++, clock.nowMs += w! * 1000)
      for (let i = 0; i < q!; i++) {
        const answer = await limited(new Request("https://a.test/"));
        expect([answer.status, answer.headers.get("RateLimit-Policy")]).toEqual([200, `"${policy.name}";${field}`]);
      }
  });

  it("concurrency: as many at once as the fields say", async () => {
    const limiter = new Limiter(memoryStore(), [concurrency({ limit: 3, lease: "1h" })], { name: "l" });
    const open = () => new Response(new ReadableStream({ pull: (body) => body.enqueue(new Uint8Array(9)) }));
    const limited = fetchLimiter(limiter, open, { key: () => "a" });
    const held: Response[] = [];
    for (const left of [2, 1, 0]) {
      const answer = await limited(new Request("https://a.test/"));
      expect([answer.status, answer.headers.get("RateLimit")]).toEqual([200, `"concurrency";r=${left}`]);
      expect(answer.headers.get("RateLimit-Policy")).toBe('"concurrency";q=3;qu="concurrent-requests"');
      held.push(answer);
    }
    expect((await limited(new Request("https://a.test/"))).status).toBe(429);
    await held[0]!.body!.cancel();
    expect((await limited(new Request("https://a.test/"))).status).toBe(200);
  });
});
