import { afterEach, beforeEach, expect, test } from "vitest";
import { fetchLimiter } from "../../src/entries/http.ts";
import {
  Breaker,
  DelayQueue,
  FleetMetrics,
  Limiter,
  localDecisions,
  memoryStore,
  redisStore,
  Series,
  type Store,
  type StoreFailure,
  slidingWindow,
  type WatchedStore,
} from "../../src/entries/index.ts";
import { atEnd } from "../harness/ends.ts";
import { freePort, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";

let warned: string[];
const note = ({ name, message }: Error) => void (name === "OrielWarning" && warned.push(message));
beforeEach(() => {
  warned = [];
  process.on("warning", note);
});
afterEach(() => void process.off("warning", note));

function open(port: number): { store: WatchedStore; failures: StoreFailure[] } {
  const store = redisStore(`redis://127.0.0.1:${port}`, { deadline: 300 }); // It ends calls that nobody answers.
  atEnd(() => store.close());
  const failures: StoreFailure[] = [];
  store.on("error", (failure) => failures.push(failure));
  return { store, failures };
}

const policies = [slidingWindow({ limit: 1, span: "1m" })];
const limiterOf = (store: Store, onStoreError: "allow" | "deny" | ReturnType<typeof localDecisions>) =>
  new Limiter(store, policies, { name: "l", onStoreError });

/** What each structure does without its store, and the words of the warning. */
const GOING_ON: Record<string, [effect: RegExp, goOn: (store: Store) => unknown]> = {
  "a limiter that allows": [/^Limiter "l" allows every call/, (store) => limiterOf(store, "allow").take("a")],
  "a limiter that denies": [/^Limiter "l" denies every call/, (store) => limiterOf(store, "deny").take("a")],
  "a limiter that decides locally": [
    /^Limiter "l" decides in this process alone/,
    (store) => limiterOf(store, localDecisions()).take("a"),
  ],
  "a peek": [/^Limiter "l" allows every call/, (store) => limiterOf(store, "allow").peek("a")],
  "a reservation": [
    /^Limiter "l" allows every call/,
    (store) => limiterOf(store, "allow").reserve("a", { cost: 1, lease: "1m" }),
  ],
  "a middleware that passes": [
    /^Limiter "l" lets requests pass uncounted, because its store cannot be used: (?!Limiter)/,
    (store) =>
      fetchLimiter(new Limiter(store, policies, { name: "l" }), () => new Response("through"), {
        key: () => "a",
        onError: "pass",
      })(new Request("http://home.example/")),
  ],
  takeAll: [
    /^Limiter "l" denies every call/,
    (store) =>
      Limiter.takeAll(
        [
          { limiter: limiterOf(store, "deny"), id: "a" },
          { limiter: new Limiter(store, policies, { name: "other", onStoreError: "allow" }), id: "a" },
        ],
        { tag: "t" },
      ),
  ],
  "a limiter with a lease": [
    /^Limiter "l" allows every call/,
    (store) =>
      new Limiter(store, policies, { name: "l", onStoreError: "allow", lease: { permits: 1, for: "1s" } }).take("a"),
  ],
  "a series": [
    /^Series "s" keeps its events in this process and answers from them/,
    (store) => new Series(store, "s", { onStoreError: "local" }).record(1),
  ],
  "a breaker": [
    /^Breaker "b" decides by the calls of this process alone/,
    (store) => new Breaker(store, { name: "b", span: "1m", failures: 3, cooldown: "1m", flush: 1 }).run(() => 1),
  ],
  "a fleet": [
    /^FleetMetrics "f" keeps its counts in this process/,
    (store) => new FleetMetrics(store, "f", { flush: 10 }).metric("m").recordSuccess(1),
  ],
  "a worker": [
    /^QueueWorker "q" delivers no messages/,
    (store) => {
      const worker = new DelayQueue(store, "q").process(() => {});
      atEnd(() => worker.close());
    },
  ],
};

test.each(Object.entries(GOING_ON))("%s: one warning with the cause, and the store's event", async (_, given) => {
  const [effect, goOn] = given;
  const { store, failures } = open(await freePort());
  await goOn(store);
  await until("it goes on", () => failures.length > 0 && warned.length > 0);
  for (let i = 0; i < 20; i++) await goOn(store);
  expect(warned).toEqual([expect.stringMatching(/because its store cannot be used: .*connect ECONNREFUSED/)]);
  expect(warned[0]).toMatch(effect);
  expect(failures.filter(({ count }) => count === 0)).toMatchObject([{ error: { code: "UNAVAILABLE" } }]);
});

test("each outage has a warning, and a line when it ends", async () => {
  const port = await freePort();
  const { store } = open(port);
  const limiters = ["one", "other"].map((name) => new Limiter(store, policies, { name, onStoreError: "allow" }));
  const ask = () => Promise.all(limiters.map((limiter) => limiter.take("a")));
  for (let outage = 1; outage <= 2; outage++) {
    await until("it is away", async () => (await ask())[0]!.degraded);
    await until("it is down", () => store.health.state === "down");
    await ask();
    await until("the warning", () => warned.length === 2 * outage - 1);
    const server = await startRedis({ tcp: port });
    await until("it is back", async () => !(await ask())[0]!.degraded);
    await until("the line", () => warned.length === 2 * outage);
    expect(warned.slice(-2)).toEqual([
      expect.stringMatching(/^Limiter "\w+" allows every call and enforces no limit, because its store cannot be used/),
      expect.stringMatching(/^a store can be used again after \d+ s, in which Limiter "\w+" allows every call/),
    ]);
    await server.stop();
  }
});

test("a refused argument, and a limiter that throws, say nothing", async () => {
  const { store, failures } = open(await freePort());
  await expect(limiterOf(store, "allow").take("a", { cost: -1 })).rejects.toMatchObject({ code: "ARGUMENT" });
  await expect(new Limiter(store, policies, { name: "strict" }).take("a")).rejects.toMatchObject({
    code: "UNAVAILABLE",
  });
  expect([warned, failures]).toEqual([[], []]);
});

test("a memory store that is full says so too", async () => {
  const store = memoryStore({ maxBytes: 2000, registry: false });
  const limiter = limiterOf(store, "allow");
  for (let i = 0; i < 50; i++) expect((await limiter.take(`id${i}`)).allowed).toBe(true);
  await until("the warning", () => warned.length > 0);
  expect(warned).toEqual([expect.stringMatching(/^Limiter "l" allows every call .*: the store is full|^Limiter "l"/)]);
});
