import { get } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import { Limiter, memoryStore, slidingWindow } from "../../src/entries/index.ts";
import type { Taker } from "../../src/http/taker.ts";
import { until } from "../harness/until.ts";
import { FixedWindowTaker } from "./fixed-window-taker.ts";
import { type AnyOptions, frameworks, type Served } from "./servers.ts";

const BURST = { name: "burst", limit: 2, spanMs: 10_000 };
const DAILY = { name: "daily", limit: 100, spanMs: 86_400_000 };

describe.each(frameworks)("the limiter before %s", (_name, framework) => {
  let served: Served | undefined;
  let nowMs = 1_700_000_000_000;
  const clock = () => nowMs;
  const taker = (...policies: (typeof BURST)[]) => new FixedWindowTaker(policies, clock);

  const start = async (takers: Taker[], options: AnyOptions = {}) => {
    served = await framework(takers, options);
    return served.url;
  };
  const fields = (response: Response) =>
    ["ratelimit-policy", "ratelimit", "retry-after"].map((name) => response.headers.get(name));

  afterEach(async () => {
    await served?.close();
    served = undefined;
  });

  it("admits, reports the remaining permits, and denies with a problem document", async () => {
    const url = await start([taker(BURST, DAILY)]);
    const policy = '"burst";q=2;w=10, "daily";q=100;w=86400';
    for (const left of [1, 0]) {
      const response = await fetch(url);
      expect([response.status, await response.text()]).toEqual([200, "through"]);
      expect(fields(response)).toEqual([policy, `"burst";r=${left};t=10, "daily";r=${left + 98};t=86400`, null]);
    }
    nowMs += 3500;
    const denied = await fetch(url);
    expect(denied.status).toBe(429);
    expect(denied.headers.get("content-type")).toMatch(/^application\/problem\+json(;|$)/); // Fastify adds a charset
    expect(fields(denied)).toEqual([policy, '"burst";r=0;t=7, "daily";r=98;t=86397', "7"]);
    expect(await denied.json()).toEqual({
      type: "https://iana.org/assignments/http-problem-types#quota-exceeded",
      title: "Quota Exceeded",
      status: 429,
      "violated-policies": ["burst"],
    });
    nowMs += 7000; // what Retry-After said
    expect((await fetch(url)).status).toBe(200);
  });

  it("counts for the client's address, or for the id of `key`", async () => {
    const byAddress = taker(BURST);
    await fetch(await start([byAddress]));
    expect(byAddress.taken).toEqual(["127.0.0.1"]);
    await served?.close();
    const byUser = taker(BURST);
    const url = await start([byUser], { keyHeader: "x-user", partitionKey: (id) => id });
    const statuses: number[] = [];
    for (const user of ["ann", "ann", "ann", "bob"]) {
      const response = await fetch(url, { headers: { "x-user": user } });
      statuses.push(response.status);
      expect(response.headers.get("ratelimit")).toContain(`;pk=:${btoa(user)}:`);
    }
    expect(statuses).toEqual([200, 200, 429, 200]);
    expect(byUser.taken).toEqual(["ann", "ann", "ann", "bob"]);
  });

  it("takes the cost, skips the configured requests, and sets only the configured fields", async () => {
    const counted = taker(BURST);
    const url = await start([counted], { cost: async () => 2, skipHeader: "x-skip", headers: false });
    const skipped = await fetch(url, { headers: { "x-skip": "1" } });
    expect([skipped.status, fields(skipped), counted.taken.length]).toEqual([200, [null, null, null], 0]);
    const first = await fetch(url);
    expect([first.status, fields(first)]).toEqual([200, [null, null, null]]);
    expect((await fetch(url)).status).toBe(429);
    await served?.close();
    const legacy = await fetch(await start([taker(BURST)], { headers: { legacy: "delta" } }));
    expect(legacy.headers.get("x-ratelimit-limit")).toBe("2");
    expect(legacy.headers.get("x-ratelimit-remaining")).toBe("1");
    expect(legacy.headers.get("x-ratelimit-reset")).toBe("10");
  });

  it("takes costs by policy, of an object or of a function that returns one, and refuses an unknown policy", async () => {
    const store = memoryStore({ registry: false });
    const policies = ["requests", "tokens"].map((name) => slidingWindow({ name, limit: 400, span: "1m" }));
    const limiter = new Limiter(store, policies, { name: "llm" });
    const costs: AnyOptions["cost"][] = [
      { requests: 1, tokens: 300 },
      () => ({ tokens: 50 }),
      async () => 7,
      { token: 1 },
    ];
    const seen: unknown[] = [];
    for (const cost of costs) {
      const { status } = await fetch(await start([limiter], { cost, keyHeader: "x-user" }));
      await served?.close();
      const left = await limiter.peek("nobody", { cost: 0 });
      seen.push([status, ...left.policies.map(({ remaining }) => remaining)]);
    }
    expect(seen).toEqual([
      [200, 399, 100],
      [200, 399, 50],
      [200, 392, 43],
      [500, 392, 43],
    ]);
    await store.close();
  });

  it("joins the fields of two limiters", async () => {
    const url = await start([taker(BURST), taker(DAILY)]);
    const items = fields(await fetch(url)).map((field) => field?.split(", ").sort());
    expect(items).toEqual([
      ['"burst";q=2;w=10', '"daily";q=100;w=86400'],
      ['"burst";r=1;t=10', '"daily";r=99;t=86400'],
      undefined,
    ]);
  });

  it("passes an error to the framework, or admits if configured", async () => {
    const failing = taker(BURST);
    failing.failure = new Error("the store is away");
    const response = await fetch(await start([failing]));
    expect([response.status, await response.text()]).toEqual([500, expect.stringContaining("the store is away")]);
    await served?.close();
    expect((await fetch(await start([failing], { onError: "pass" }))).status).toBe(200);
  });

  it("returns a permit when the response has ended, or when the client leaves before", async () => {
    const lending = taker(BURST);
    lending.permit = "p1";
    const url = await start([lending]);
    expect(await (await fetch(url)).text()).toBe("through");
    await until("the permit is back", () => lending.released.length === 1);
    const leaving = new AbortController();
    const long = await fetch(`${url}/long`, { signal: leaving.signal });
    const { value } = await long.body!.getReader().read();
    expect([new TextDecoder().decode(value), lending.released.length]).toEqual(["first", 1]);
    leaving.abort();
    await until("the second permit is back", () => lending.released.length === 2);
    expect(lending.released).toEqual(["127.0.0.1 p1", "127.0.0.1 p1"]);
  });

  it.each(["/", "/long"])("returns a permit that arrives after the client has left, at %s", async (path) => {
    const lending = taker(BURST);
    lending.permit = "p1";
    let answer = () => {};
    lending.held = new Promise((resolve) => {
      answer = resolve;
    });
    const url = await start([lending]);
    const leaving = get(url + path, { agent: false }).on("error", () => {}); // fetch would connect anew
    await until("the limiter is asked", () => lending.taken.length === 1);
    leaving.destroy();
    await until("the server knows", async () => (await served?.connections()) === 0);
    answer();
    await until("the permit is back", () => lending.released.length === 1);
    expect(lending.released).toEqual(["127.0.0.1 p1"]);
  });
});
