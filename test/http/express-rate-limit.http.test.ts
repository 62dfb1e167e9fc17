import express from "express";
import { type Options, rateLimit } from "express-rate-limit";
import { afterEach, describe, expect, it, vi } from "vitest";
import { expressRateLimitStore } from "../../src/entries/http.ts";
import { fixedWindow, Limiter, memoryStore } from "../../src/entries/index.ts";
import { decisionFrom } from "./decisions.ts";
import { FixedWindowTaker } from "./fixed-window-taker.ts";
import { listen, type Served } from "./servers.ts";

describe("expressRateLimitStore", () => {
  let served: Served | undefined;
  let nowMs = Date.now();
  const clock = () => nowMs;
  const window = (limit: number, spanMs = 60_000) => new FixedWindowTaker([{ name: "window", limit, spanMs }], clock);

  const start = async (options: Partial<Options>) => {
    const app = express();
    app.set("env", "test");
    app.use(rateLimit({ windowMs: 60_000, standardHeaders: "draft-8", legacyHeaders: true, ...options }));
    app.get("/", (_request, response) => void response.send("through"));
    app.get("/bad", (_request, response) => void response.status(400).send("bad"));
    served = await listen(app);
    return served.url;
  };
  const statuses = async (url: string, count: number) => {
    const seen: number[] = [];
    for (let i = 0; i < count; i++) seen.push((await fetch(url)).status);
    return seen;
  };

  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  it("lets the limiter decide if both have the same limit", async () => {
    nowMs = Date.now();
    const limiter = window(2);
    const url = await start({ limit: 2, store: expressRateLimitStore(limiter, { clock, prefix: "api:" }) });
    const first = await fetch(url);
    expect([first.status, first.headers.get("x-ratelimit-remaining")]).toEqual([200, "1"]);
    expect(await statuses(url, 3)).toEqual([200, 429, 429]);
    const denied = await fetch(url);
    expect(Number(denied.headers.get("retry-after"))).toBeGreaterThan(30);
    expect(Number(denied.headers.get("retry-after"))).toBeLessThanOrEqual(60);
    expect([denied.headers.get("x-ratelimit-limit"), denied.headers.get("x-ratelimit-remaining")]).toEqual(["2", "0"]);
    expect(limiter.taken.every((id) => id === "api:127.0.0.1")).toBe(true);
    nowMs += 60_000;
    expect(await statuses(url, 1)).toEqual([200]);
  });

  it("denies what either limit denies", async () => {
    expect(await statuses(await start({ limit: 5, store: expressRateLimitStore(window(2)) }), 3)).toEqual([
      200, 200, 429,
    ]);
    await served?.close();
    expect(await statuses(await start({ limit: 1, store: expressRateLimitStore(window(2)) }), 2)).toEqual([200, 429]);
  });

  it("counts for limits that differ per request, denied ones too, in a limiter of the window's length", async () => {
    const spans: number[] = [];
    const counting = (spanMs: number) => {
      spans.push(spanMs);
      return window(1e9, spanMs);
    };
    const store = expressRateLimitStore(counting, { clock });
    const url = await start({ limit: (request) => Number(request.get("x-limit")), store });
    const get = async (limit: number) => (await fetch(url, { headers: { "x-limit": String(limit) } })).status;
    expect([await get(2), await get(2), await get(2), await get(3), await get(5)]).toEqual([200, 200, 429, 429, 200]);
    expect(spans).toEqual([60_000]);
    expect(await store.get("127.0.0.1")).toEqual({ totalHits: 5, resetTime: expect.any(Date) });
  });

  it("returns requests that must not count, and resets a client", async () => {
    const limiter = window(2);
    const store = expressRateLimitStore(limiter);
    const url = await start({ limit: 2, store, skipFailedRequests: true });
    expect(await statuses(`${url}/bad`, 4)).toEqual([400, 400, 400, 400]);
    expect(await statuses(url, 3)).toEqual([200, 200, 429]);
    await store.resetKey("127.0.0.1");
    expect(await store.get("127.0.0.1")).toBeUndefined();
    expect(await statuses(url, 1)).toEqual([200]);
  });

  it("reports one hit, the minimum, if the limiter admits without its store", async () => {
    const limiter = window(2);
    limiter.take = async () => decisionFrom([], { degraded: true, degradedBy: "allow" });
    expect((await expressRateLimitStore(limiter).increment("a")).totalHits).toBe(1);
    limiter.take = async () => decisionFrom([], { allowed: false, degraded: true, degradedBy: "deny" });
    expect(await statuses(await start({ limit: 5, store: expressRateLimitStore(limiter) }), 1)).toEqual([429]);
  });

  it("passes the limiter's errors on", async () => {
    const limiter = window(2);
    limiter.failure = new Error("the store is away");
    expect(await statuses(await start({ store: expressRateLimitStore(limiter) }), 1)).toEqual([500]);
    await served?.close();
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const passing = { store: expressRateLimitStore(limiter), passOnStoreError: true };
    expect(await statuses(await start(passing), 1)).toEqual([200]);
    expect(logged).toHaveBeenCalledTimes(1);
    logged.mockRestore();
  });

  it.each([
    ["two limiters: once in each", ["a", "b"], [], [1, 1]],
    ["one limiter twice: which express-rate-limit reports", ["a", "a"], ["ERR_ERL_DOUBLE_COUNT"], [0]],
  ])("counts a request in %s", async (_what, names, reports, remaining) => {
    const limiterOf = (name: string) => new Limiter(memoryStore(), [fixedWindow({ limit: 2, span: "1m" })], { name });
    const limiters = new Map(names.map((name) => [name, limiterOf(name)]));
    const codes: unknown[] = [];
    const error = (reported: unknown) => void codes.push(Object(reported).code);
    const app = express();
    for (const name of names)
      app.use(
        rateLimit({
          ...{ limit: 9, logger: { error, warn: error } },
          store: expressRateLimitStore(limiters.get(name)!),
        }),
      );
    app.get("/", (_request, response) => void response.send("through"));
    served = await listen(app);
    expect(await statuses(served.url, 1)).toEqual([200]);
    const left = [...limiters.values()].map(async (limiter) => (await limiter.peek("127.0.0.1")).remaining);
    expect([codes, await Promise.all(left)]).toEqual([reports, remaining]);
  });

  it("refuses a value that is no limiter", () => {
    expect(() => expressRateLimitStore({} as never)).toThrow(/limiter is an object; it must be a Limiter/);
  });
});
