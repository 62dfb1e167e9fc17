// The stores for other packages, each behind the package itself.
import "reflect-metadata";
import rateLimitPlugin from "@fastify/rate-limit";
import { Controller, Get, type INestApplication, Module } from "@nestjs/common";
import { APP_GUARD, NestFactory } from "@nestjs/core";
import { ThrottlerGuard, ThrottlerModule } from "@nestjs/throttler";
import { Elysia } from "elysia";
import { rateLimit as elysiaRateLimit } from "elysia-rate-limit";
import Fastify from "fastify";
import { Hono } from "hono";
import { rateLimiter } from "hono-rate-limiter";
import { afterEach, describe, expect, it } from "vitest";
import {
  elysiaRateLimitContext,
  expressRateLimitStore,
  fastifyRateLimitStore,
  nestModule,
  nestThrottlerStorage,
} from "../../src/entries/http.ts";
import { Limiter, memoryStore, Series, slidingWindow } from "../../src/entries/index.ts";

const BEGIN_MS = 1_800_000_000_000;
let nowMs = BEGIN_MS;
const stores: ReturnType<typeof memoryStore>[] = [];
function store() {
  const one = memoryStore({ clock: () => nowMs });
  stores.push(one);
  return one;
}
const limiterOn = (on: ReturnType<typeof memoryStore>, limit = 2, span: number | string = "1m") =>
  new Limiter(on, [slidingWindow({ limit, span: span as "1m" })], { name: "api" });

afterEach(async () => {
  await Promise.all(stores.splice(0).map((one) => one.close()));
  nowMs = BEGIN_MS;
});

describe("fastifyRateLimitStore", () => {
  async function app(limiterFor: Parameters<typeof fastifyRateLimitStore>[0]) {
    const fastify = Fastify();
    await fastify.register(rateLimitPlugin, {
      ...{ max: 2, timeWindow: "1 minute" },
      store: fastifyRateLimitStore(limiterFor) as never,
    });
    fastify.get("/", () => "through");
    fastify.get("/own", { config: { rateLimit: { max: 1, timeWindow: 10_000 } } }, () => "through");
    fastify.get("/looks", { config: { rateLimit: false } }, async (request) => {
      const { remaining, isExceeded } = (await fastify.createRateLimit()(request, { increment: false })) as never;
      return { remaining, isExceeded };
    });
    return fastify;
  }
  const status = async (fastify: Awaited<ReturnType<typeof app>>, url = "/") => (await fastify.inject(url)).statusCode;

  it("lets the limiter decide, and passes when its window has passed", async () => {
    const on = store();
    const fastify = await app((span, limit) => limiterOn(on, limit, span));
    const first = await fastify.inject("/");
    expect([first.statusCode, first.headers["x-ratelimit-remaining"]]).toEqual([200, "1"]);
    nowMs += 30_000;
    expect([await status(fastify), await status(fastify)]).toEqual([200, 429]);
    const denied = await fastify.inject("/");
    expect([denied.headers["retry-after"], denied.headers["x-ratelimit-remaining"]]).toEqual(["30", "0"]);
    nowMs += 30_000; // the first has left the window, and the denied ones took nothing
    expect([await status(fastify), await status(fastify)]).toEqual([200, 429]);
    await fastify.close();
  });

  it("counts a route with a limit of its own apart, with its window", async () => {
    const on = store();
    const fastify = await app((span, limit) => limiterOn(on, limit, span));
    expect([await status(fastify, "/own"), await status(fastify, "/own"), await status(fastify)]).toEqual([
      200, 429, 200,
    ]);
    nowMs += 10_000;
    expect(await status(fastify, "/own")).toBe(200);
    await fastify.close();
  });

  it("shares the count with another process, and reads it without taking", async () => {
    const on = store();
    const [one, two] = await Promise.all([app(limiterOn(on)), app(limiterOn(on))]);
    expect([await status(one), await status(two), await status(one)]).toEqual([200, 200, 429]);
    nowMs += 60_000;
    await status(one);
    for (let i = 0; i < 3; i++) expect(await fastifyLooks(two)).toEqual({ remaining: 1, isExceeded: false });
    await Promise.all([one.close(), two.close()]);
  });
  const fastifyLooks = async (fastify: Awaited<ReturnType<typeof app>>) => (await fastify.inject("/looks")).json();

  it("passes the limiter's errors on", async () => {
    const on = store();
    const fastify = await app(limiterOn(on));
    await on.close();
    expect(await status(fastify)).toBe(500);
    await fastify.close();
  });
});

describe("expressRateLimitStore in hono-rate-limiter", () => {
  it("lets the limiter decide, and returns failed requests", async () => {
    const limiter = limiterOn(store());
    const app = new Hono();
    const keyGenerator = () => "ada";
    app.use(
      rateLimiter({
        ...{ windowMs: 60_000, limit: 2, keyGenerator, skipFailedRequests: true },
        store: expressRateLimitStore(limiter) as never,
      }),
    );
    app.get("/", (c) => c.text("through"));
    app.get("/bad", (c) => c.text("bad", 400));
    const status = async (path: string) => (await app.request(path)).status;
    expect([await status("/bad"), await status("/bad"), await status("/bad")]).toEqual([400, 400, 400]);
    expect([await status("/"), await status("/"), await status("/")]).toEqual([200, 200, 429]);
    nowMs += 60_000;
    expect(await status("/")).toBe(200);
  });
});

describe("elysiaRateLimitContext", () => {
  it("lets the limiter decide over two processes", async () => {
    const on = store();
    const appOf = () =>
      new Elysia()
        .use(
          elysiaRateLimit({
            ...{ duration: 60_000, max: 2, generator: () => "ada" },
            context: elysiaRateLimitContext(limiterOn(on), { clock: () => nowMs }),
          }),
        )
        .get("/", () => "through");
    const [one, two] = [appOf(), appOf()];
    const status = async (app: typeof one) => (await app.handle(new Request("http://localhost/"))).status;
    expect([await status(one), await status(two), await status(one)]).toEqual([200, 200, 429]);
    nowMs += 60_000;
    expect(await status(two)).toBe(200);
  });

  it("resets one client, and never all of them", async () => {
    const context = elysiaRateLimitContext(limiterOn(store()));
    context.init({ duration: 60_000, max: 2 });
    await context.increment("ada");
    await context.increment("bob");
    await context.reset();
    expect((await context.increment("ada")).count).toBe(2);
    await context.reset("ada");
    expect((await context.increment("ada")).count).toBe(1);
    expect((await context.increment("bob")).count).toBe(2);
  });
});

/** A controller. Decorators are functions, which a test without a compiler for them calls. */
function hello() {
  class Hello {
    hello() {
      return "through";
    }
  }
  const { prototype } = Hello;
  Get()(prototype, "hello", Object.getOwnPropertyDescriptor(prototype, "hello")!);
  Controller("hello")(Hello);
  return Hello;
}

describe("NestJS", () => {
  let app: INestApplication | undefined;
  afterEach(async () => {
    await app?.close();
    app = undefined;
  });

  async function start(storage: ReturnType<typeof nestThrottlerStorage>, throttlers: object[], imports: object[] = []) {
    class Root {}
    Module({
      imports: [ThrottlerModule.forRoot({ throttlers: throttlers as never, storage }), ...(imports as never[])],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
      controllers: [hello()],
    })(Root);
    app = await NestFactory.create(Root, { logger: false });
    await app.listen(0, "127.0.0.1");
    return `${await app.getUrl()}/hello`;
  }

  it("is throttled by the limiter, each throttler apart", async () => {
    const on = store();
    const storage = nestThrottlerStorage((span, limit) => limiterOn(on, limit, span));
    const url = await start(storage, [
      { name: "short", ttl: 10_000, limit: 2 },
      { name: "long", ttl: 60_000, limit: 3 },
    ]);
    const first = await fetch(url);
    expect([first.status, first.headers.get("x-ratelimit-remaining-short")]).toEqual([200, "1"]);
    expect([(await fetch(url)).status, (await fetch(url)).status]).toEqual([200, 429]);
    expect((await fetch(url)).headers.get("retry-after-short")).toBe("10");
    nowMs += 10_000;
    expect((await fetch(url)).status).toBe(200);
    const denied = await fetch(url);
    expect([denied.status, denied.headers.get("retry-after-long")]).toEqual([429, "50"]);
  });

  it("blocks for a block duration of its own", async () => {
    const storage = nestThrottlerStorage(limiterOn(store(), 1));
    const call = () => storage.increment("ada", 60_000, 1, 300_000, "default");
    expect(await call()).toEqual({ totalHits: 1, timeToExpire: 60, isBlocked: false, timeToBlockExpire: 0 });
    expect(await call()).toMatchObject({ totalHits: 2, isBlocked: true, timeToBlockExpire: 300 });
    nowMs += 299_000;
    expect(await call()).toMatchObject({ isBlocked: true, timeToBlockExpire: 1 });
    nowMs += 1000;
    expect((await call()).isBlocked).toBe(false);
  });

  it("denies, and blocks nobody, while the store is away", async () => {
    const on = store();
    const limiter = new Limiter(on, [slidingWindow({ limit: 1, span: "1m" })], { name: "api", onStoreError: "deny" });
    await on.close();
    const record = await nestThrottlerStorage(limiter).increment("ada", 60_000, 1, 300_000, "default");
    expect(record).toMatchObject({ totalHits: 2, isBlocked: true });
  });

  it("closes the store, and gives the error, if a structure cannot be closed", async () => {
    const on = store();
    const broken = { close: () => Promise.reject(new Error("it is stuck")) };
    const { module: Own } = nestModule(on, { broken });
    await expect((new Own() as { onApplicationShutdown(): Promise<void> }).onApplicationShutdown()).rejects.toThrow(
      "it is stuck",
    );
    await expect(limiterOn(on).take("ada")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });

  it("injects the store and the structures, and closes them after the last request", async () => {
    const on = store();
    const latency = new Series(on, "latency");
    const storage = nestThrottlerStorage(limiterOn(on, 100));
    const url = await start(storage, [{ ttl: 60_000, limit: 100 }], [nestModule(on, { latency })]);
    expect(app!.get("latency")).toBe(latency);
    expect(app!.get("ORIEL_STORE")).toBe(on);
    await fetch(url);
    await app!.close();
    app = undefined;
    await expect(latency.record(1)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(limiterOn(on).take("ada")).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});

describe("what is no limiter", () => {
  it.each([
    ["fastifyRateLimitStore", () => fastifyRateLimitStore({} as never)],
    ["nestThrottlerStorage", () => nestThrottlerStorage(undefined as never)],
    ["expressRateLimitStore", () => elysiaRateLimitContext({} as never)],
    ["nestModule", () => nestModule({} as never)],
  ])("%s refuses it", (name, make) => {
    expect(make).toThrowError(expect.objectContaining({ code: "ARGUMENT", structure: name }));
  });

  it("a function that returns none is refused when it is asked", async () => {
    const storage = nestThrottlerStorage(() => ({}) as never);
    await expect(storage.increment("ada", 1000, 1, 1000, "default")).rejects.toMatchObject({ code: "ARGUMENT" });
  });
});
