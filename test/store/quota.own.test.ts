import { expect, test } from "vitest";
import { fixedWindow, httpStore, Limiter, Lock } from "../../src/entries/index.ts";
import { isOutOfQuota } from "../../src/store/health/reason.ts";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { type Fault, startRest } from "../harness/servers/rest-server.ts";
import { until } from "../harness/until.ts";

const redis = oncePerFile(() => startRedis());

/** What providers answer when they take no more calls. */
const SPENT = [
  "ERR max daily request limit exceeded. Limit: 10000, Usage: 10001. See https://x.example/docs",
  "ERR max requests limit exceeded. Limit: 500000, Usage: 500000.",
  "ERR max monthly bandwidth limit exceeded",
  "ERR max concurrent connections exceeded",
  "ERR Your monthly quota has been reached",
  "ERR Too many requests",
  "ERR command rate limit exceeded",
];

test("answers about one request, and Redis' own errors, say nothing about a quota", () => {
  for (const text of [
    "ERR max request size exceeded. Limit: 1048576 bytes, Actual: 2000000 bytes",
    "ERR max single record size exceeded",
    "ERR DB capacity quota exceeded",
    "ERR max number of clients reached",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "ERR value is not an integer or out of range",
  ])
    expect(isOutOfQuota(new Error(text)), text).toBe(false);
  for (const text of SPENT) expect(isOutOfQuota(new Error(text)), text).toBe(true);
});

const faults = SPENT.flatMap((text): [string, Fault][] => [
  [`HTTP 400, ${text}`, { status: 400, body: JSON.stringify({ error: text }) }],
  [`HTTP 200, ${text}`, { status: 200, body: JSON.stringify({ error: text }) }],
]);
faults.push([`HTTP 403, ${SPENT[4]}`, { status: 403, body: JSON.stringify({ error: SPENT[4] }) }]);
faults.push(["HTTP 402", { status: 402, body: JSON.stringify({ error: "payment required" }) }]);

test.each(faults)("%s: one request for many calls, and all is well when the quota is raised", async (_, fault) => {
  const rest = await startRest((await redis()).url);
  atEnd(() => rest.stop());
  const store = httpStore({ url: rest.url, token: rest.token });
  atEnd(() => store.close());
  const limiter = new Limiter(store, [fixedWindow({ limit: 1e6, span: "1h" })], { name: "l" });
  expect(await limiter.take("a")).toMatchObject({ allowed: true });
  rest.faultOf = () => fault;
  const before = rest.requests.length;
  for (let i = 0; i < 50; i++) {
    const error = await limiter.take("a").catch((reason) => reason);
    expect(error).toMatchObject({ code: "UNAVAILABLE", applied: "no", transient: true });
    expect(error.message).toMatch(/the provider takes no more calls for now \(.*(exceeded|reached|Too many|HTTP 402)/);
  }
  expect(store.health).toMatchObject({ state: "down", reason: expect.stringContaining("no more calls for now") });
  // One call, and some probes at growing intervals.
  expect(rest.requests.length - before).toBeLessThan(25);
  rest.faultOf = undefined;
  await until("it is up", () => store.health.state === "up");
  expect(await limiter.take("a")).toMatchObject({ allowed: true });
});

test.each(faults)("%s: two commands of one request are both refused, and were not run", async (_, fault) => {
  const rest = await startRest((await redis()).url);
  atEnd(() => rest.stop());
  const store = httpStore({ url: rest.url, token: rest.token, registry: false });
  atEnd(() => store.close());
  const limiter = new Limiter(store, [fixedWindow({ limit: 1e6, span: "1h" })], { name: "l" });
  const lock = new Lock(store, "import");
  rest.faultOf = () => fault;
  const before = rest.requests.length;
  const ended = await Promise.allSettled([limiter.take("a"), lock.tryLock()]);
  expect(rest.requests[before]!.commands.length).toBe(2);
  for (const one of ended)
    expect(one).toMatchObject({ reason: { code: "UNAVAILABLE", applied: "no", transient: true } });
});

test("the error has the time that the server wishes", async () => {
  const rest = await startRest((await redis()).url);
  atEnd(() => rest.stop());
  for (const [i, status] of [400, 429].entries()) {
    const store = httpStore({ url: rest.url, token: rest.token, deadline: 2000 + i });
    atEnd(() => store.close());
    rest.faultOf = () => ({ status, body: JSON.stringify({ error: SPENT[0] }), headers: { "Retry-After": "30" } });
    const error = await new Lock(store, "l").tryLock().catch((reason) => reason);
    expect(error).toMatchObject({ code: "UNAVAILABLE", transient: true, applied: "no", retryAfterMs: 30_000 });
  }
});

test("a gateway's 503 that says when to come back: no more requests until then", async () => {
  const rest = await startRest((await redis()).url);
  atEnd(() => rest.stop());
  const store = httpStore({ url: rest.url, token: rest.token, deadline: 300, registry: false }); // It ends calls that nobody answers.
  atEnd(() => store.close());
  const limiter = new Limiter(store, [fixedWindow({ limit: 1e6, span: "1h" })], { name: "l" });
  rest.faultOf = () => ({ status: 503, body: "<html>Come back later</html>", headers: { "Retry-After": "30" } });
  const first = await limiter.take("a").catch((reason) => reason);
  // Behind the gateway, the server may have run it.
  expect(first).toMatchObject({ code: "UNAVAILABLE", transient: true, applied: "unknown", retryAfterMs: 30_000 });
  for (let i = 0; i < 50; i++)
    await expect(limiter.take("a")).rejects.toMatchObject({ code: "UNAVAILABLE", transient: true, applied: "no" });
  expect(store.health.state).toBe("down");
  expect(rest.requests).toHaveLength(1);
});
