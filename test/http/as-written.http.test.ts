import { getConnInfo } from "@hono/node-server/conninfo";
import express from "express";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { type Context, Hono } from "hono";
import { describe, expect, it } from "vitest";
import { clientKey, decisionOf, expressLimiter, fastifyLimiter, honoLimiter } from "../../src/entries/http.ts";
import { FixedWindowTaker } from "./fixed-window-taker.ts";
import { listen } from "./servers.ts";

const limiterOf = () => new FixedWindowTaker([{ name: "many", limit: 100, spanMs: 1000 }]);

// That these compile against the frameworks' own types is half of each test.
describe("the middleware, written as applications do,", () => {
  it("fits Express: for all requests, for a route, with keys of the framework's request", async () => {
    const limiter = limiterOf();
    const app = express();
    app.use(expressLimiter(limiter, { key: (request) => request.get("x-key") ?? "none" }));
    const forRoute = expressLimiter(limiter, { key: (request: express.Request) => `path ${request.path}` });
    app.get("/a", expressLimiter(limiter), forRoute, (request, response) => void response.json(decisionOf(request)));
    const { url, close } = await listen(app);
    const response = await fetch(`${url}/a`, { headers: { "x-key": "k" } });
    expect(await response.json()).toMatchObject({ allowed: true, policy: "many" });
    expect(limiter.taken).toEqual(["k", "127.0.0.1", "path /a"]);
    await close();
  });

  it("fits Fastify: as hooks of all routes and of one, HTTP/2 too", async () => {
    const limiter = limiterOf();
    const app = fastify();
    app.addHook("onRequest", fastifyLimiter(limiter, { key: (request) => String(request.headers["x-key"]) }));
    const forRoute = fastifyLimiter(limiter, {
      key: (request: FastifyRequest) => `path ${request.url}`,
      onDenied: (_request, reply: FastifyReply) => reply.code(403).send({}),
    });
    app.get("/a", { onRequest: fastifyLimiter(limiter), preHandler: [forRoute] }, async () => "a");
    expect((await app.inject({ url: "/a", headers: { "x-key": "k" } })).body).toBe("a");
    expect(limiter.taken).toEqual(["k", "127.0.0.1", "path /a"]);
    const secure = fastify({ http2: true });
    secure.get("/", { onRequest: fastifyLimiter(limiter) }, async () => "h2");
    expect((await secure.inject("/")).headers.ratelimit).toBe('"many";r=98;t=1');
    await Promise.all([app.close(), secure.close()]);
  });

  it("fits answers without types of the framework: Fastify's and Hono's", async () => {
    const none = () => new FixedWindowTaker([{ name: "none", limit: 1, spanMs: 1000 }]);
    const app = fastify();
    const plain = fastifyLimiter(none(), { onDenied: (_request, reply) => reply.code(429).send("slow down") });
    const asJson = fastifyLimiter(none(), { onDenied: (_request, reply) => reply.code(429).send({ slow: true }) });
    app.get("/plain", { onRequest: plain }, () => "in");
    app.get("/json", { onRequest: asJson }, () => "in");
    const hono = new Hono();
    const key = () => "all";
    hono.use("/plain", honoLimiter(none(), { key, onDenied: (c) => c.text("slow down", 429) }));
    hono.use("/json", honoLimiter(none(), { key, onDenied: (c) => c.json({ slow: true }, 429) }));
    hono.get("/*", (c) => c.text("in"));
    for (const [path, body] of [["/plain", "slow down"] as const, ["/json", '{"slow":true}'] as const]) {
      expect((await app.inject(path)).body).toBe("in");
      const { statusCode, body: denied } = await app.inject(path);
      expect([statusCode, denied]).toEqual([429, body]);
      expect(await (await hono.request(path)).text()).toBe("in");
      const response = await hono.request(path);
      expect([response.status, await response.text()]).toEqual([429, body]);
    }
    await app.close();
  });

  it("fits Hono: with variables and bindings of the application's own", async () => {
    interface Env {
      Variables: { user: string };
      Bindings: { incoming: { socket: object } };
    }
    const limiter = limiterOf();
    const app = new Hono<Env>();
    app.use(async (c, next) => {
      c.set("user", "ann");
      await next();
    });
    app.use(honoLimiter(limiter, { key: (c) => c.req.header("x-key") ?? "none" }));
    app.use("/a", honoLimiter(limiter, { key: (c: Context) => clientKey(getConnInfo(c).remote.address ?? "") }));
    const byUser = honoLimiter(limiter, {
      key: (c: Context<Env>) => c.get("user"),
      onDenied: (c) => c.text("no", 403),
    });
    app.get("/a", byUser, honoLimiter(limiter), (c) => c.text(c.get("user")));
    const env = { incoming: { socket: { remoteAddress: "::ffff:198.51.100.7", remotePort: 1, remoteFamily: "IPv6" } } };
    const response = await app.request("/a", { headers: { "x-key": "k" } }, env);
    expect(await response.text()).toBe("ann");
    expect(limiter.taken).toEqual(["k", "198.51.100.7", "ann", "198.51.100.7"]);
  });
});
