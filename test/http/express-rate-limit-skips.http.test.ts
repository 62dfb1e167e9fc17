import express, { type Response as ExpressResponse } from "express";
import { MemoryStore, type Options, rateLimit, type Store } from "express-rate-limit";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { expressRateLimitStore } from "../../src/entries/http.ts";
import { fixedWindow, Limiter, memoryStore } from "../../src/entries/index.ts";
import { until } from "../harness/until.ts";
import { decisionFrom } from "./decisions.ts";
import { FixedWindowTaker } from "./fixed-window-taker.ts";
import { listen, type Served } from "./servers.ts";

const { ORIEL_HTTP_RUNS = "5", ORIEL_SEED } = process.env;
const seed = Number(ORIEL_SEED ?? Date.now() % 1_000_000);
const LIMIT = 2;
const WINDOW_MS = 3_600_000;

const limiterOf = (limit: number, spanMs: number) =>
  new Limiter(memoryStore(), [fixedWindow({ limit, span: spanMs })], { name: "api" });
const STORES = {
  "the limiter decides": () => expressRateLimitStore(limiterOf(LIMIT, WINDOW_MS)),
  "express-rate-limit decides": () => expressRateLimitStore((windowMs) => limiterOf(1e9, windowMs)),
};

type Skips = Pick<Options, "skipFailedRequests" | "skipSuccessfulRequests"> & Partial<Options>;
const SKIPS: Record<string, Skips> = {
  none: { skipFailedRequests: false, skipSuccessfulRequests: false },
  "the failed": { skipFailedRequests: true, skipSuccessfulRequests: false },
  "the successful": { skipFailedRequests: false, skipSuccessfulRequests: true },
  both: { skipFailedRequests: true, skipSuccessfulRequests: true },
  "the successful, to which a denied one belongs": {
    skipFailedRequests: false,
    skipSuccessfulRequests: true,
    requestWasSuccessful: (_request, response) => response.statusCode < 500,
  },
};

/** A request under way: it was let in, and waits for the test to end it. */
interface Open {
  response: ExpressResponse;
  answer: Promise<number>;
  leave(): void;
}

/** An application whose requests end when the test says so, in front of one store. */
async function application(store: Store, options: Skips) {
  const app = express();
  app.set("env", "test");
  let decrements = 0;
  const watched: Store = {
    localKeys: true,
    init: (all) => store.init?.(all),
    increment: (key) => store.increment(key),
    async decrement(key) {
      await store.decrement(key);
      decrements++;
    },
    resetKey: (key) => store.resetKey(key),
  };
  const held: ExpressResponse[] = [];
  app.use(rateLimit({ windowMs: WINDOW_MS, limit: LIMIT, store: watched, keyGenerator: () => "k", ...options }));
  app.use((_request, response) => void held.push(response));
  const served = await listen(app);
  const wasSuccessful = options.requestWasSuccessful ?? ((_request, response) => response.statusCode < 400);
  const open: Open[] = [];
  let due = 0;
  const ended = async (status: number | undefined) => {
    const succeeded = status !== undefined && wasSuccessful({} as never, { statusCode: status } as never);
    if (succeeded ? options.skipSuccessfulRequests : options.skipFailedRequests) due++;
    await until("the hit is taken back", () => decrements === due);
  };
  return {
    served,
    async start(): Promise<number | undefined> {
      const before = held.length;
      const leaving = new AbortController();
      const answer = fetch(served.url, { signal: leaving.signal }).then(
        (response) => response.text().then(() => response.status),
        () => 0,
      );
      const denied = await Promise.race([
        answer,
        until("it is let in", () => held.length > before).then(() => undefined),
      ]);
      if (denied === undefined) open.push({ response: held.at(-1)!, answer, leave: () => leaving.abort() });
      else await ended(denied);
      return denied;
    },
    async end(place: number, status: number | undefined): Promise<void> {
      const [one] = open.splice(place % open.length, 1);
      if (one === undefined) return;
      if (status === undefined) one.leave();
      else one.response.status(status).end();
      await one.answer;
      await ended(status);
    },
    reset: () => watched.resetKey("k"),
  };
}

const step = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ does: "start" as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("end" as const),
      place: fc.nat(9),
      status: fc.constantFrom(200, 200, 400, 500, undefined),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ does: "reset" as const }) },
);

describe.each(Object.entries(SKIPS))("skipping %s", (_skips, options) => {
  const closing: Served[] = [];
  afterEach(async () => {
    for (const { close } of closing.splice(0)) await close();
  });

  it.each(Object.entries(STORES))(
    `where %s, the same requests pass as with express-rate-limit's own store (seed ${seed})`,
    async (_name, make) => {
      let denied = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 24 }), async (steps) => {
          const ours = await application(make(), options);
          const theirs = await application(new MemoryStore(), options);
          closing.push(ours.served, theirs.served);
          for (const [i, one] of steps.entries()) {
            if (one.does === "start") {
              const status = await theirs.start();
              if (status === 429) denied++;
              expect([i, steps, await ours.start()]).toEqual([i, steps, status]);
            } else if (one.does === "end") for (const each of [ours, theirs]) await each.end(one.place, one.status);
            else for (const each of [ours, theirs]) await each.reset();
          }
          for (const { close } of closing.splice(0)) await close();
        }),
        { numRuns: Number(ORIEL_HTTP_RUNS), seed },
      );
      expect(denied).toBeGreaterThan(0);
    },
  );
});

describe("a hit that is returned", () => {
  const clock = { nowMs: 1_700_000_000_000 };
  const storeOf = (limiter: FixedWindowTaker | Limiter) => expressRateLimitStore(limiter, { clock: () => clock.nowMs });
  const windowOf = (limit: number) => new FixedWindowTaker([{ name: "w", limit, spanMs: 1000 }], () => clock.nowMs);

  it("returns nothing to the next window if its own has ended", async () => {
    const limiter = windowOf(2);
    const store = storeOf(limiter);
    await store.increment("k");
    clock.nowMs += 1000;
    await limiter.take("k"); // another process's
    await store.decrement("k");
    expect((await limiter.peek("k")).remaining).toBe(1);
  });

  it("returns nothing that another process took, or that was never taken", async () => {
    const limiter = windowOf(2);
    const [one, other] = [storeOf(limiter), storeOf(limiter)];
    await one.increment("k");
    await other.decrement("k");
    await one.decrement("never");
    expect((await limiter.peek("k")).remaining).toBe(1);
    await one.decrement("k");
    await one.decrement("k");
    expect((await limiter.peek("k")).remaining).toBe(2);
  });

  it("returns nothing for a request that was decided without the limiter's store", async () => {
    const limiter = windowOf(3);
    const store = storeOf(limiter);
    store.init({ windowMs: 1000, skipFailedRequests: true });
    await store.increment("k");
    const { take } = limiter;
    for (const allowed of [true, false]) {
      limiter.take = async () => decisionFrom([], { allowed, degraded: true, degradedBy: allowed ? "allow" : "deny" });
      await store.increment("k");
      limiter.take = take;
      await store.decrement("k");
      expect((await limiter.peek("k")).remaining).toBe(2);
    }
    await store.decrement("k");
    expect((await limiter.peek("k")).remaining).toBe(3);
  });
});
