import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { afterEach, describe, expect, it } from "vitest";
import {
  decisionOf,
  expressLimiter,
  fastifyLimiter,
  fetchLimiter,
  honoLimiter,
  problemOf,
} from "../../src/entries/http.ts";
import { until } from "../harness/until.ts";
import { decisionFrom, policyOf } from "./decisions.ts";
import { FixedWindowTaker } from "./fixed-window-taker.ts";
import { listen } from "./servers.ts";

const closing: (() => Promise<unknown>)[] = [];
const once = () => new FixedWindowTaker([{ name: "once", limit: 1, spanMs: 5000 }]);
const summary = async (response: Response) => [
  response.status,
  response.headers.get("retry-after"),
  await response.text(),
];
const DENIED = [403, "5", "once refuses"];

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

describe("the application's use of a decision", () => {
  it("in Express: request.rateLimit, a custom answer, the client behind a trusted proxy, a router's middleware", async () => {
    const limiter = once();
    const app = express();
    app.set("trust proxy", 1);
    const limit = expressLimiter(limiter, {
      onDenied: (_request: express.Request, response: express.Response, _next, decision) =>
        response.status(403).send(`${decision.policy} refuses`),
    });
    app.get("/", limit, (request, response) => {
      const { rateLimit } = request as unknown as { rateLimit: unknown };
      response.json([rateLimit === decisionOf(request), decisionOf(request)?.remaining]);
    });
    const { url, close } = await listen(app);
    closing.push(close);
    const from = (address: string) => fetch(url, { headers: { "X-Forwarded-For": address } });
    expect(await (await from("2001:db8::1")).json()).toEqual([true, 0]);
    expect(await summary(await from("2001:db8::2"))).toEqual(DENIED); // the same /64
    expect((await from("198.51.100.1")).status).toBe(200);
    expect(limiter.taken).toEqual(["2001:db8:0:0::/64", "2001:db8:0:0::/64", "198.51.100.1"]);
  });

  it("in Express: passes a denial to the next handler if configured", async () => {
    const app = express();
    app.use(expressLimiter(once(), { onDenied: (_request, _response, next) => next() }));
    app.get("/", (request, response) => void response.send(decisionOf(request)?.allowed ? "fast" : "slow"));
    const { url, close } = await listen(app);
    closing.push(close);
    expect([await (await fetch(url)).text(), await (await fetch(url)).text()]).toEqual(["fast", "slow"]);
  });

  it("in Fastify: request.rateLimit, a custom answer, for one route and after other hooks", async () => {
    const app = fastify();
    const onRequest = fastifyLimiter(once(), {
      onDenied: async (_request, reply, decision) => {
        reply.code(403);
        return reply.send(`${decision.policy} refuses`);
      },
    });
    app.get("/", { onRequest }, async (request) => [
      (request as unknown as { rateLimit: unknown }).rateLimit === decisionOf(request),
      decisionOf(request)?.remaining,
    ]);
    app.get("/free", async () => "free");
    const url = await app.listen({ port: 0, host: "127.0.0.1" });
    closing.push(() => app.close());
    expect(await (await fetch(url)).json()).toEqual([true, 0]);
    expect(await summary(await fetch(url))).toEqual(DENIED);
    expect((await fetch(`${url}/free`)).headers.get("ratelimit")).toBeNull();
  });

  it("in Hono: the variable rateLimit, a custom answer, a custom key if no address is known", async () => {
    const app = new Hono<{ Variables: { rateLimit?: unknown } }>();
    app.onError((error) => new Response(error.message, { status: 500 }));
    const limiter = once();
    const onDenied = (_context: unknown, { policy }: { policy: string }) =>
      new Response(`${policy} refuses`, { status: 403 });
    app.use("/", honoLimiter(limiter, { key: () => "all", onDenied }));
    app.get("/", (c) => c.json([c.get("rateLimit") === decisionOf(c.req.raw), decisionOf(c.req.raw)?.remaining]));
    app.use("/unknown", honoLimiter(limiter));
    expect(await (await app.request("/")).json()).toEqual([true, 0]);
    expect(await summary(await app.request("/"))).toEqual(DENIED);
    const unknown = await app.request("/unknown");
    expect(unknown.status).toBe(404); // counted as one client without an address
  });

  it("in a fetch handler: a custom answer, forwarded arguments, a response with immutable headers", async () => {
    const upstream = await listen((_request, response) => response.end("upstream"));
    closing.push(upstream.close);
    const handler = fetchLimiter(
      once(),
      async (request: Request, env: { home: string }) => {
        expect(decisionOf(request)?.remaining).toBe(0);
        return fetch(env.home);
      },
      { key: () => "all", onDenied: (_request, { policy }) => new Response(`${policy} refuses`, { status: 403 }) },
    );
    const call = () => handler(new Request("http://home.example/"), { home: upstream.url });
    const passed = await call();
    expect([passed.headers.get("ratelimit"), await passed.text()]).toEqual(['"once";r=0;t=5', "upstream"]);
    expect(await summary(await call())).toEqual(DENIED);
  });

  it("returns a permit if a fetch handler or a response without a body ends at once", async () => {
    const lending = new FixedWindowTaker([{ name: "many", limit: 9, spanMs: 5000 }]);
    lending.permit = "p";
    const failing = fetchLimiter(lending, () => Promise.reject(new Error("handler")), { key: () => "a" });
    await expect(failing(new Request("http://home.example/"))).rejects.toThrow("handler");
    const empty = fetchLimiter(lending, () => new Response(null, { status: 204 }), { key: () => "b" });
    expect((await empty(new Request("http://home.example/"))).status).toBe(204);
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("upstream is gone")) });
    const breaking = fetchLimiter(lending, () => new Response(broken), { key: () => "c" });
    await expect((await breaking(new Request("http://home.example/"))).text()).rejects.toThrow("upstream is gone");
    const unread = fetchLimiter(lending, () => new Response("unread"), { key: () => "d" });
    const left = await unread(new Request("http://home.example/"));
    await until("its end is known, though nobody reads", () => lending.released.length === 4);
    expect(lending.released).toEqual(["a p", "b p", "c p", "d p"]);
    expect(await left.text()).toBe("unread");
    const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(9)) });
    const cancelled = fetchLimiter(lending, () => new Response(endless()), { key: () => "e" });
    await (await cancelled(new Request("http://home.example/"))).body?.cancel();
    expect(lending.released.slice(4)).toEqual(["e p"]);
  });

  it("in Hono: returns a permit if a handler throws a value that is no Error, and joins an upstream's fields", async () => {
    const lending = new FixedWindowTaker([{ name: "many", limit: 9, spanMs: 5000 }]);
    lending.permit = "p";
    const upstream = await listen((_request, response) => response.setHeader("RateLimit", '"up";r=1').end("upstream"));
    closing.push(upstream.close);
    const app = new Hono();
    app.use(honoLimiter(lending, { key: () => "a" }));
    app.get("/throws", () => {
      throw "no error";
    });
    app.get("/proxy", () => fetch(upstream.url));
    await expect(async () => app.request("/throws")).rejects.toBe("no error");
    expect(lending.released).toEqual(["a p"]);
    const joined = await app.request("/proxy");
    expect([joined.headers.get("ratelimit"), await joined.text()]).toEqual(['"up";r=1, "many";r=7;t=5', "upstream"]);
  });
});

describe("problemOf", () => {
  it("names the policies that denied, spelled as in RateLimit-Policy", () => {
    const refusing = { allowed: false, retryAfterMs: 1000 };
    const policies = [
      policyOf({ name: "été", ...refusing }),
      policyOf(),
      policyOf({ name: "trial", shadow: true, ...refusing }),
    ];
    const { status, body } = problemOf(decisionFrom(policies));
    expect([status, JSON.parse(body)["violated-policies"]]).toEqual([429, ["%C3%A9t%C3%A9"]]);
  });

  it("refuses a decision that allows", () => {
    expect(() => problemOf(decisionFrom([policyOf()]))).toThrow("problemOf: decision is");
  });

  it("is a 503 if the limiter denies because its store is away", () => {
    const { status, body } = problemOf(decisionFrom([], { allowed: false, degraded: true, degradedBy: "deny" }));
    expect([status, JSON.parse(body).type]).toEqual([503, expect.stringMatching(/#temporary-reduced-capacity$/)]);
  });
});

describe("the middleware's arguments", () => {
  it("are checked at once, and errors name them", () => {
    const all: ((...given: never[]) => unknown)[] = [expressLimiter, fastifyLimiter, honoLimiter];
    for (const limiter of all) {
      const make = limiter as (limiter: unknown, options?: object) => unknown;
      expect(() => make({})).toThrow("limiter is an object; it must be a Limiter");
      expect(() => make(once(), { key: "ip" })).toThrow('key is "ip"; it must be a function');
      expect(() => make(once(), { cost: 0 })).toThrow("cost is 0; it must be a number of permits above 0");
      expect(() => make(once(), { cost: { tokens: -1 } })).toThrow(
        'cost of "tokens" is -1; it must be an integer number of permits from 0 to 2147483647',
      );
      expect(() => make(once(), { cost: {} })).toThrow(
        "cost is an object; it must be an integer number of permits, or an",
      );
      expect(() => make(once(), { cost: [1] })).toThrow("it must be a number of permits above 0, an object of them by");
      expect(() => make(once(), { onError: "ignore" })).toThrow('onError is "ignore"');
      expect(() => make(once(), { ipv6Prefix: 16 })).toThrow("ipv6Prefix is 16");
    }
    expect(() => fetchLimiter(once(), () => new Response(), {} as never)).toThrow("key is undefined");
    expect(() => fetchLimiter(once(), undefined as never, { key: () => "a" })).toThrow("handler is undefined");
  });

  it("a function of the cost must return one", async () => {
    const admit = fetchLimiter(once(), () => new Response(), { key: () => "a", cost: (() => {}) as never });
    await expect(admit(new Request("http://localhost/"))).rejects.toThrow(
      "cost is undefined; it must be a number of permits, or an object of them by policy",
    );
  });
});
