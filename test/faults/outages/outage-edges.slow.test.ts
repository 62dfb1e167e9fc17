import { afterEach, expect, test, vi } from "vitest";
import { fixedWindow, httpStore, Limiter, redisStore, type WatchedStore } from "../../../src/entries/index.ts";
import { startProxy } from "../../harness/network/proxy.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { type Fault, startRest } from "../../harness/servers/rest-server.ts";
import { until } from "../../harness/until.ts";
import { clients, storeOn } from "../../store/contract/clients.ts";

/** As long as no machine lets a server that works be silent. */
const DEADLINE_MS = 2000;
const policies = [fixedWindow({ limit: 1e6, span: "1h" })];

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function watched(store: WatchedStore): string[] {
  const events: string[] = [];
  for (const name of ["down", "up"] as const) store.on(name, () => events.push(name));
  ends.push(() => store.close());
  return events;
}

/** A busy machine may let a deadline go by. */
const works = (limiter: Limiter) => until("it works", async () => (await limiter.take("a")).allowed);

/** One call after the other, each for its answer or its failure, until `isOver`. */
async function ask(limiter: Limiter, isOver: () => boolean, pauseMs = 2): Promise<void> {
  while (!isOver()) {
    await limiter.take("a").catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}

test("each outage and its end are reported once, whatever the number of failed calls", async () => {
  const server = await startRedis({ tcp: true });
  const proxy = await startProxy(server.port);
  ends.push(server.stop, proxy.close);
  const store = redisStore(proxy.url, { deadline: DEADLINE_MS });
  const events = watched(store);
  const limiter = new Limiter(store, policies, { name: "l" });
  await works(limiter);
  let isOver = false;
  const asked = Promise.all([1, 2, 3, 4].map(() => ask(limiter, () => isOver)));
  const expected: string[] = [];
  for (let outage = 0; outage < 3; outage++) {
    proxy.refuse(true);
    proxy.cut();
    await until("it is down", () => store.health.state === "down");
    proxy.refuse(false);
    await until("it is up", () => store.health.state === "up");
    expected.push("down", "up");
  }
  isOver = true;
  await asked;
  expect(events).toEqual(expected);
});

test("two stores over one client detect an outage and its end independently", async () => {
  const server = await startRedis({ tcp: true });
  ends.push(server.stop);
  const given = clients["ioredis 6"](server.url);
  ends.push(given.end);
  const [one, other] = [1, 2].map(() => storeOn(given, { deadline: DEADLINE_MS }) as WatchedStore) as [
    WatchedStore,
    WatchedStore,
  ];
  const events = [watched(one), watched(other)];
  const limiters = [one, other].map((store) => new Limiter(store, policies, { name: "l" }));
  await Promise.all(limiters.map(works));
  server.pause();
  await limiters[0]!.take("a").catch(() => {});
  await until("one is down", () => one.health.state === "down");
  expect(other.health.state).toBe("up");
  await limiters[1]!.take("a").catch(() => {});
  await until("both are down", () => other.health.state === "down");
  await one.close();
  server.resume();
  await until("it is up", () => other.health.state === "up");
  expect(events).toEqual([["down"], ["down", "up"]]);
  expect((await limiters[1]!.take("a")).allowed).toBe(true);
});

test("`applied` of each error is true throughout an outage", async () => {
  const server = await startRedis({ tcp: true });
  ends.push(server.stop);
  const given = clients["node-redis 6"](server.url);
  ends.push(given.end);
  const store = storeOn(given, { deadline: DEADLINE_MS }) as WatchedStore;
  watched(store);
  const limiter = new Limiter(store, [fixedWindow({ limit: 100_000, span: "1h" })], { name: "l" });
  const reported = { taken: 0, no: 0, unknown: 0 };
  const take = () =>
    limiter.take("a").then(
      () => reported.taken++,
      ({ applied }: { applied: "no" | "unknown" }) => reported[applied]++,
    );
  await take();
  server.pause();
  const sent = Array.from({ length: 20 }, take);
  await until("it is down", () => store.health.state === "down");
  await Promise.all(sent);
  // The calls of a turn may ask in place of a probe that is late, but not those of every one.
  await until("calls are refused at once", async () => {
    const before = reported.no;
    await Promise.all(Array.from({ length: 50 }, take));
    return reported.no === before + 50;
  });
  server.resume();
  await until("it is up", () => store.health.state === "up");
  await take();
  const used = 100_000 - (await limiter.peek("a")).remaining;
  expect(used).toBeGreaterThanOrEqual(reported.taken);
  expect(used).toBeLessThanOrEqual(reported.taken + reported.unknown);
});

/** A server over HTTP, and what befalls the requests that have `word` in them. */
async function restServer() {
  const server = await startRedis();
  const rest = await startRest(server.url);
  ends.push(server.stop, rest.stop);
  const befalls = (word: string, fault: Fault) => {
    rest.faultOf = (commands) =>
      JSON.stringify(commands.filter(([name]) => name !== "EXISTS")).includes(word) ? fault : undefined;
  };
  return { rest, befalls };
}

test("a slow answer alone is no outage", async () => {
  const { rest, befalls } = await restServer();
  const store = httpStore({ url: rest.url, token: rest.token, deadline: DEADLINE_MS });
  const events = watched(store);
  const limiter = new Limiter(store, policies, { name: "l" });
  await works(limiter);
  let answer = () => {};
  befalls("slow", {
    hold: new Promise<void>((resolve) => {
      answer = resolve;
    }),
  });
  let isOver = false;
  // Calls of one turn travel together: those that are made with the slow one are slow.
  const asked = Promise.all([2, 3, 5, 7].map((pauseMs) => ask(limiter, () => isOver, pauseMs)));
  for (let times = 0; times < 2; times++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    await expect(limiter.take("slow")).rejects.toMatchObject({ code: "DEADLINE", applied: "unknown" });
    expect(store.health.state).toBe("up");
  }
  isOver = true;
  answer();
  await asked;
  expect(events).toEqual([]);
});

test("if timers end with their request (Workers), a call of a later request is the probe", async () => {
  const { rest, befalls } = await restServer();
  /** Timers of an earlier request do not fire. */
  let request = 1;
  const { setTimeout: timer } = globalThis;
  vi.stubGlobal("setTimeout", (callback: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) => {
    const of = request;
    return timer(() => of === request && callback(...args), ms);
  });
  ends.push(() => vi.unstubAllGlobals());
  const server = { url: rest.url, token: rest.token, deadline: DEADLINE_MS };
  const limiterOf = () => {
    const store = httpStore(server);
    return { store, limiter: new Limiter(store, policies, { name: "l" }) };
  };
  const first = limiterOf();
  await works(first.limiter);
  befalls("[", { cut: "before it is run" });
  await until("it is down", async () => {
    await first.limiter.take("a").catch(() => {});
    return first.store.health.state === "down";
  });

  request++;
  const second = limiterOf();
  const events = watched(second.store);
  await expect(second.limiter.take("a")).rejects.toMatchObject({ code: "UNAVAILABLE", applied: "no" });
  rest.faultOf = undefined;
  const before = rest.requests.length;
  await until("it decides", async () => {
    const decided = await second.limiter.take("a").catch(() => undefined);
    return decided !== undefined || rest.requests.length >= before + 3;
  });
  expect(rest.requests.length).toBeLessThan(before + 3); // except requests already under way
  expect(events).toEqual(["up"]);
  expect(second.store.health.state).toBe("up");
});
