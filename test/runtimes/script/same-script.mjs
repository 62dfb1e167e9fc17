// What every runtime runs of oriel.
import {
  Breaker,
  Counters,
  concurrency,
  DelayQueue,
  gcra,
  kernel,
  Limiter,
  LocalSeries,
  Lock,
  MetricWindow,
  memoryStore,
  OrielError,
  Series,
  slidingWindow,
} from "oriel";
import { bitsOf, Checks } from "./checks.mjs";
import { cases, checkGolden, percents } from "./golden-checks.mjs";

const START_MS = Date.UTC(2026, 0, 1);
const VALUES = [4, 7, 13, 16];
const STATS = {
  count: 4,
  sum: 40,
  mean: 10,
  min: 4,
  max: 16,
  variance: 22.5,
  std: Math.sqrt(22.5),
  percentiles: { 25: 6.25, 50: 10, 100: 16 },
  degraded: false,
};
const ASKED = { span: "10s", percentiles: [25, 50, 100] };

export async function run() {
  const checks = new Checks();
  checkGolden(checks, kernel);
  for (const check of [checkLocal, checkSeries, checkLimits, checkBreaker, checkLock, checkQueue, checkCounters])
    await check(checks);
  return checks.report(kernel.name);
}

/** A store in memory, on a clock that is stepped. */
function stepped() {
  const clock = { nowMs: START_MS };
  return { clock, store: memoryStore({ clock: () => clock.nowMs }) };
}

function checkLocal(checks) {
  const clock = { nowMs: START_MS };
  const series = new LocalSeries({ clock: () => clock.nowMs });
  for (const value of VALUES) {
    series.record(value);
    clock.nowMs += 1000;
  }
  const window = { from: clock.nowMs - 10_000, to: clock.nowMs };
  checks.same("LocalSeries: stats", series.stats(ASKED), { ...STATS, ...window });
  checks.same("LocalSeries: one percentile", series.percentile(25, { span: "10s" }), 6.25);
  checks.same("LocalSeries: a narrow window", series.values({ span: "3s" }), Float32Array.of(13, 16));
  checks.same("LocalSeries: a share", series.fractionBelow(13), 0.5);
  checks.same("LocalSeries: ranks", series.ranks([13]).atMost, Float64Array.of(3));
  checks.same("LocalSeries: a histogram", series.histogram({ span: "3s", bounds: [13] }).counts, Float64Array.of(1, 1));
  const { shifts } = series.compare({ span: "2s", before: "1s", percentiles: [50] });
  checks.same("LocalSeries: a shift", shifts[50], 1.5);
  const line = series.timeline({ span: "3s", every: "1s", percentiles: [50] });
  checks.same("LocalSeries: a timeline", line.percentiles[50], Float64Array.of(13, 16, Number.NaN));
  for (const { name, column, dtype, fsum, pct } of cases) {
    const golden = new LocalSeries({ values: dtype === "f4" ? "float32" : "float64", clock: () => clock.nowMs });
    golden.recordMany(column);
    const { sum, percentiles } = golden.stats({ percentiles: percents, method: "inverted_cdf" });
    checks.same(`LocalSeries: ${name} sum`, bitsOf(sum), fsum);
    const bits = percents.map((q) => bitsOf(percentiles[q], dtype));
    checks.same(`LocalSeries: ${name} percentiles`, bits, pct.inverted_cdf);
  }
  const metrics = new MetricWindow({ sampleCount: 2, interval: 1000, clock: () => clock.nowMs });
  for (const latencyMs of [10, 30]) metrics.recordSuccess(latencyMs);
  checks.same("MetricWindow", [metrics.successesPerSecond(), metrics.latencySumMs()], [2, 40]);
}

async function checkSeries(checks) {
  const { clock, store } = stepped();
  const series = new Series(store, "latency", { values: "float64" });
  let reported;
  for (const value of VALUES) {
    reported = await series.recordAndGet(value, ASKED);
    clock.nowMs += 1000;
  }
  const lastMs = clock.nowMs - 1000;
  checks.same("Series: recordAndGet", reported, { ...STATS, from: lastMs - 10_000, to: lastMs });
  const window = { from: clock.nowMs - 10_000, to: clock.nowMs };
  checks.same("Series: stats", await series.stats(ASKED), { ...STATS, ...window });
  const other = new Series(store, "latency", { values: "float64" });
  checks.same("Series: stats from outlines", await other.stats(ASKED), { ...STATS, ...window });
  await other.close();
  checks.same("Series: values", await series.values({ span: "3s" }), Float64Array.of(13, 16));
  await series.close();
}

async function checkLimits(checks) {
  const { clock, store } = stepped();
  const limiter = new Limiter(store, [slidingWindow({ limit: 3, span: "1s" })], { name: "calls" });
  const taken = [];
  for (let call = 0; call < 5; call++) {
    const { allowed, remaining, retryAfterMs } = await limiter.take("1.2.3.4");
    taken.push([allowed, remaining, retryAfterMs]);
    clock.nowMs += call < 3 ? 100 : 700;
  }
  checks.same("Limiter: a sliding window", taken, [
    [true, 2, 0],
    [true, 1, 0],
    [true, 0, 0],
    [false, 0, 700],
    [true, 0, 0],
  ]);
  const several = new Limiter(
    store,
    [gcra({ limit: 10, span: "1s", burst: 1 }), concurrency({ limit: 1, lease: "1m" })],
    {
      name: "both",
    },
  );
  const first = await several.take("job");
  const paced = await several.take("job");
  const waitsMs = paced.policies.map(({ retryAfterMs }) => retryAfterMs);
  checks.same("Limiter: two policies", [first.allowed, paced.allowed, waitsMs], [true, false, [100, 60_000]]);
  clock.nowMs += 100;
  const lent = await several.take("job");
  checks.same("Limiter: concurrency", [lent.allowed, lent.policy], [false, "concurrency"]);
  await several.release("job", first.permit);
  checks.same("Limiter: a permit given back", (await several.take("job")).allowed, true);
}

async function checkBreaker(checks) {
  const { clock, store } = stepped();
  const breaker = new Breaker(store, { name: "pay", span: "10s", failures: 2, cooldown: "1s" });
  const reported = [];
  for (const state of ["open", "halfOpen", "close"]) breaker.on(state, () => reported.push(state));
  const fails = () => breaker.run(() => Promise.reject(new RangeError("down"))).catch((error) => error.name);
  checks.same("Breaker: failures", [await fails(), await fails()], ["RangeError", "RangeError"]);
  await breaker.flush();
  const refused = await breaker.run(() => 1).catch((error) => error);
  checks.same("Breaker: open", [refused instanceof OrielError, refused.code], [true, "OPEN"]);
  checks.same("Breaker: its wait", refused.retryAfterMs, 1000);
  clock.nowMs += 1000;
  checks.same("Breaker: a probe", await breaker.run(() => 7), 7);
  await breaker.flush();
  checks.same("Breaker: closed", [breaker.stats().state, reported], ["closed", ["open", "halfOpen", "close"]]);
}

async function checkLock(checks) {
  const { store } = stepped();
  const lock = new Lock(store, "invoice");
  const fences = [];
  const other = await lock.withLock(async ({ fence }) => {
    fences.push(fence);
    return new Lock(store, "invoice").tryLock();
  });
  await lock.withLock(({ fence }) => fences.push(fence));
  checks.same("Lock", [other, fences[1] > fences[0]], [null, true]);
}

async function checkQueue(checks) {
  const { clock, store } = stepped();
  const queue = new DelayQueue(store, "sms");
  checks.same("DelayQueue: add", await queue.add({ to: "188" }, { delay: "1m", id: "a" }), { id: "a", isNew: true });
  checks.same("DelayQueue: not due", await queue.claim(), []);
  clock.nowMs += 60_000;
  const [message] = await queue.claim();
  checks.same("DelayQueue: due", [message?.id, message?.payload], ["a", { to: "188" }]);
  checks.same("DelayQueue: done", await queue.ack(message), true);
}

async function checkCounters(checks) {
  const { store } = stepped();
  const counters = new Counters(store, "passages", { dimensions: ["site"], buckets: ["day"] });
  const at = START_MS + 3_600_000;
  await Promise.all(["S1", "S2", "S1"].map((site) => counters.add({ site }, { at })));
  const rows = (await counters.read()).map(({ startMs, values, count }) => [startMs, Object.values(values)[0], count]);
  rows.sort((a, b) => (a[1] < b[1] ? -1 : 1));
  checks.same("Counters", rows, [
    [START_MS, "S1", 2],
    [START_MS, "S2", 1],
  ]);
  await counters.close();
}
