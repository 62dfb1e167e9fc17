// Every structure of the built CommonJS files, on the memory store and on a real Redis, in one process.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { oncePerFile } from "../../harness/ends.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { root } from "../../house/sources.ts";

const redis = oncePerFile(() => startRedis());

const PROGRAM = `
const oriel = require("oriel");
const { kernel } = require("oriel/kernel");
const { Breaker, Counters, DelayQueue, FleetMetrics, Limiter, LocalSeries, Lock, LockedWindow, Series } = oriel;

async function onStore(store) {
  const series = new Series(store, "s", { retention: "1m" });
  const { count } = await series.recordAndGet(5);
  const limiter = new Limiter(store, [oriel.slidingWindow({ limit: 1, span: "1m" })], { name: "l" });
  const allowed = [(await limiter.take("a")).allowed, (await limiter.take("a")).allowed];
  const counters = new Counters(store, "c", { dimensions: ["site"] });
  await counters.add({ site: "S1" }, 2);
  const [row] = await counters.read({ bucket: "day" });
  await counters.close();
  const queue = new DelayQueue(store, "q");
  await queue.add({ n: 1 });
  const [message] = await queue.claim({ limit: 1 });
  await queue.ack(message);
  const held = await new Lock(store, "lock").tryLock({ lease: "1m" });
  const freed = await held.release();
  const window = new LockedWindow(store, "w", { span: "1m" });
  const locked = (await window.addAndGetStats(3)).sum;
  const breaker = new Breaker(store, { name: "b", span: "10s", failures: 2 });
  const answer = await breaker.run(async () => 7);
  const fleet = new FleetMetrics(store, "f");
  fleet.metric("pay").addSuccess(4);
  await fleet.flush();
  const successes = (await fleet.read("pay")).success();
  await fleet.close();
  await series.close();
  await store.close();
  return { count, allowed, rows: row.count, successes, payload: message.payload, freed, locked, answer };
}

(async () => {
  const local = new LocalSeries({});
  local.record(3);
  const rolled = [...kernel.rollingPercentile(Float64Array.from([0, 1, 2]), Float64Array.from([1, 2, 3]), { span: 2, percentiles: [50] })[50]];
  const found = [await onStore(oriel.memoryStore()), await onStore(oriel.redisStore(process.env.REDIS_URL)), await onStore(oriel.memoryStore())];
  const again = require("oriel/kernel").kernel.percentile(Float64Array.from([1, 2, 3]), [50]);
  console.log(JSON.stringify({ max: local.stats().max, rolled, found, again: [...again] }));
})();
`;

test("every structure works after another, with require", async () => {
  const env = { ...process.env, REDIS_URL: (await redis()).url };
  // As Node before 20.19 and Jest, which take the CommonJS files.
  const text = execFileSync(process.execPath, ["--no-experimental-require-module", "-e", PROGRAM], {
    cwd: root,
    env,
    encoding: "utf8",
  });
  const one = {
    count: 1,
    allowed: [true, false],
    rows: 2,
    successes: 4,
    payload: { n: 1 },
    freed: true,
    locked: 3,
    answer: 7,
  };
  expect(JSON.parse(text)).toEqual({ max: 3, rolled: [1, 1.5, 2.5], found: [one, one, one], again: [2] });
});

test("no private field is taken for an export", () => {
  const files = readdirSync(join(root, "dist")).filter((name) => name.endsWith(".cjs"));
  expect(files.length).toBeGreaterThan(10);
  const wrong = files.filter((name) => /\.#[\w$]+ = exports\./.test(readFileSync(join(root, "dist", name), "utf8")));
  expect(wrong).toEqual([]);
});
