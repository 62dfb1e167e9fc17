import { describe, expect, test } from "vitest";
import { fixedWindow, Limiter, Series } from "../../src/entries/index.ts";
import { type HttpStoreOptions, httpStore } from "../../src/store/http/http.ts";
import { HttpStage } from "./contract/http-stage.ts";
import { input } from "./contract/redis-stage.ts";
import { append, tally } from "./ops/operations.ts";

const stage = new HttpStage();
const good = { url: "https://example.test", token: "secret-token" };

describe("options", () => {
  const wrong: Record<string, object> = {
    "no options": undefined as never,
    "no url": { token: "t" },
    "a url that is none": { url: "example.test" },
    "a url of Redis": { url: "redis://example.test" },
    "credentials in the url": { url: "https://me:secret-token@example.test" },
    "credentials in a url that is none": { url: "https://me:secret-token@example test" },
    "the token in the place of the url": { url: "secret-token", token: "https://example.test" },
    "a query": { url: "https://example.test?_token=secret-token" },
    "no token": { token: undefined },
    "an empty token": { token: "" },
    "a token that no header carries": { token: "secret-token\n" },
    "a fetch that is none": { fetch: "fetch" },
    "a deadline": { deadline: 0 },
    "a bound": { maxPendingBytes: 0.5 },
    "a prefix": { prefix: "{" },
    functions: { scripting: "functions" },
  };
  test.each(Object.entries(wrong))("%s", (name, options) => {
    const given = options && name !== "no url" ? { ...good, ...options } : options;
    expect(() => httpStore(given as HttpStoreOptions)).toThrowError(expect.objectContaining({ code: "ARGUMENT" }));
    expect(() => httpStore(given as HttpStoreOptions)).not.toThrowError(/secret-token/);
  });

  test("replicas are refused, because no connection belongs to one store", async () => {
    const run = stage.open().run(append, "k", input("x"), { replicas: 1 });
    await expect(run).rejects.toMatchObject({ code: "ARGUMENT" });
    await expect(run).rejects.toThrow(/replicas is 1/);
    expect(stage.asked).toEqual([]);
  });
});

test("nothing is sent before the first call, and notifications are refused", async () => {
  const store = stage.open();
  expect(store.subscribe).toBeUndefined();
  await new Promise((resolve) => setImmediate(resolve));
  expect(stage.asked).toEqual([]);
});

test("dangerous settings are reported as over TCP", async () => {
  await stage.raw.config("SET", "maxmemory-policy", "allkeys-lru");
  const warnings: string[] = [];
  const warned = new Promise<void>((resolve) => {
    stage.open({ onWarning: (text) => resolve(void warnings.push(text)) });
  });
  await warned;
  await stage.raw.config("SET", "maxmemory-policy", "noeviction");
  expect(warnings).toEqual([expect.stringMatching(/allkeys-lru/)]);
});

test("calls above the bound are OVERLOADED before any request", async () => {
  const store = stage.open({ maxPendingBytes: 1000 });
  const runs = [1, 2].map(() => store.run(append, store.keyOf("k"), input("x".repeat(2000))));
  const results = await Promise.allSettled(runs);
  expect(results[0]!.status).toBe("fulfilled");
  expect(results[1]).toMatchObject({ reason: { code: "OVERLOADED", applied: "no" } });
  expect(await store.run(tally, store.keyOf("t"), "0001")).toBe(1);
});

describe("the number of requests", () => {
  test("is one for all calls of one turn, of any kind", async () => {
    const store = stage.open({ registry: false });
    const limiter = new Limiter(store, [fixedWindow({ limit: 9, span: "1m" })], { name: "api" });
    const series = new Series(store, "latency", { retention: "7d" }); // no chunk closes meanwhile, which would be sealed
    await Promise.all([limiter.take("warm"), series.record(1)]);
    await series.record(1.5);
    stage.rest.requests.length = 0;
    await limiter.take("a");
    expect(stage.asked).toEqual(["EVALSHA"]);
    await series.record(2);
    expect(stage.asked).toEqual(["EVALSHA", "EVALSHA"]);
    await Promise.all(Array.from({ length: 100 }, (_, i) => limiter.take(`${i}`)));
    expect(stage.asked.slice(2)).toEqual(["EVALSHA"]);
  });

  test("is one for a store made for each request of a Worker, because scripts stay in the server", async () => {
    for (let i = 0; i < 3; i++) {
      const store = stage.open({ registry: false });
      const limiter = new Limiter(store, [fixedWindow({ limit: 9, span: "1m" })], { name: "api" });
      await limiter.take("a");
      await store.close();
    }
    expect(stage.asked).toEqual(["EVALSHA", "EVALSHA", "EVALSHA"]);
  });
});
