import { expect, test } from "vitest";
import { Breaker, DelayQueue, Limiter, recordHistory, Series, slidingWindow } from "../../src/entries/index.ts";
import { dashboard } from "../../src/operate/dashboard/dashboard.ts";
import type { BreakerOpening, DeniedId, OutcomeHistory } from "../../src/operate/dashboard/parts.ts";
import type { RowNumbers, SeriesView } from "../../src/operate/dashboard/protocol.ts";
import { deniedKey, openingsKey, timingSeries } from "../../src/operate/history/names.ts";
import { denied } from "../../src/operate/history/steps/denied.ts";
import { lines } from "../../src/operate/history/steps/lines.ts";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { emptyScene, entryOf, get, json } from "./scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

async function scene() {
  return emptyScene((await redis()).url);
}

const POLICIES = [
  slidingWindow({ name: "minute", limit: 3, span: "1m" }),
  slidingWindow({ name: "trial", limit: 1, span: "1h", shadow: true }),
];

test("the history of a limiter equals its decisions, in all and in each bucket", async () => {
  const { store, announced } = await scene();
  const history = recordHistory(store);
  const limiter = new Limiter(store, POLICIES, { name: "api" });
  const truth = { allowed: 0, denied: 0 };
  for (let i = 0; i < 20; i++) truth[(await limiter.take(`user ${i % 4}`)).allowed ? "allowed" : "denied"]++;
  await history.close();
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Limiter", "api");
  const view = await json<OutcomeHistory>(get(board, `api/part?id=${id}&part=history&span=300000`));
  expect(truth).toEqual({ allowed: 12, denied: 8 });
  expect(view.outcomes.map(({ outcome, policy, total }) => [outcome, policy, total])).toEqual([
    ["allowed", "minute", 12],
    ["denied", "minute", 8],
    ["shadow", "trial", 16],
  ]);
  const starts = [view.fromMs, ...view.endsMs];
  for (const { perSecond, total } of view.outcomes) {
    const sums = perSecond.map((rate, i) => (rate * (view.endsMs[i]! - starts[i]!)) / 1000);
    expect(sums.reduce((sum, each) => sum + each, 0)).toBeCloseTo(total, 6);
    for (const sum of sums) expect(sum).toBeCloseTo(Math.round(sum), 6);
  }
  const csv = await (await get(board, `api/part?id=${id}&part=history&span=300000&format=csv`)).text();
  expect(csv.split("\r\n")[0]).toBe("end,allowed minute /s,denied minute /s,shadow trial /s");
  const rank = await json<Record<string, RowNumbers>>(get(board, "api/rank?span=300000"));
  expect(rank[id]!.rate).toBeCloseTo(20 / 300, 3);
  expect(rank[id]!.denied).toBeCloseTo(8 / 300, 3);
});

test("the ids that are denied most come first, with what their next call would return", async () => {
  const { store, announced } = await scene();
  const history = recordHistory(store);
  const limiter = new Limiter(store, POLICIES, { name: "api" });
  for (const [id, calls] of [
    ["one", 4],
    ["most", 9],
    ["two", 5],
    ["none", 2],
  ] as const)
    for (let i = 0; i < calls; i++) await limiter.take(id);
  await history.close();
  await limiter.reset("two");
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Limiter", "api");
  const ids = await json<DeniedId[]>(get(board, `api/part?id=${id}&part=denied`));
  expect(ids.map((each) => [each.id, each.count, each.now!.isDenied])).toEqual([
    ["most", 6, true],
    ["two", 2, false],
    ["one", 1, true],
  ]);
  const peeked = await limiter.peek("most");
  expect(ids[0]!.now!.policies).toEqual([
    { name: "minute", isShadow: false, isDenied: true, used: 3, limit: 3 },
    { name: "trial", isShadow: true, isDenied: true, used: 1, limit: 1 },
  ]);
  expect(Math.abs(ids[0]!.now!.waitMs! - peeked.retryAfterMs)).toBeLessThan(5000);
  expect(ids[1]!.now!.policies.map(({ used }) => used)).toEqual([0, 0]);
  const masked = await json<DeniedId[]>(get(dashboard(store, { maskIds: true }), `api/part?id=${id}&part=denied`));
  expect(masked.map((each) => each.id)).toEqual(["m…t", "…", "…"]);
  expect(new Set(masked.map((each) => each.key)).size).toBe(3);
  expect(masked.map((each) => each.key).join()).not.toMatch(/most|one|two/);
  expect(ids.map((each) => each.key)).toEqual(["most", "two", "one"]);
});

test("the timings of a queue equal those of its series", async () => {
  const { store, announced } = await scene();
  const history = recordHistory(store);
  const queue = new DelayQueue<number>(store, "mail", { shards: 1 });
  let done = 0;
  const worker = queue.process(async () => {});
  atEnd(() => worker.close());
  worker.on("completed", () => void done++);
  for (let i = 0; i < 25; i++) await queue.add(i);
  await until("all are done", () => done === 25);
  await history.close();
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "DelayQueue", "mail");
  for (const timing of ["lateness", "wait", "run"] as const) {
    const view = await json<SeriesView>(get(board, `api/part?id=${id}&part=timing&timing=${timing}&span=60000`));
    const series = new Series(store, timingSeries("mail", timing));
    const stats = await series.stats({ at: view.toMs, span: view.toMs - view.fromMs });
    expect([view.whole.count, view.whole.p99, view.whole.max]).toEqual([25, stats.percentiles[99], stats.max]);
    await series.close();
  }
  const wrong = await get(board, `api/part?id=${id}&part=timing&timing=none`);
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining("lateness, wait, run")]);
});

test("openings are listed once, the latest first, and lines of other programs are left out", async () => {
  const { store, announced } = await scene();
  const breaker = new Breaker(store, { name: "pay", failures: 3, span: "1m" });
  await breaker.flush();
  const key = openingsKey(store, "pay");
  const opening = (atMs: number, cause: string) => JSON.stringify({ atMs, cause, calls: 9, failures: 5, slow: 0 });
  const foreign = ["{}", "no json", '{"atMs":"x"}'];
  const own = [opening(1000, "calls"), opening(3000, "calls"), opening(3000, "probe")];
  for (const line of [...foreign, ...own]) await store.run(lines, key, { line, isWanted: false });
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Breaker", "pay");
  const found = await json<BreakerOpening[]>(get(board, `api/part?id=${id}&part=openings`));
  expect(found.map(({ atMs, cause }) => [atMs, cause])).toEqual([
    [3000, "probe"],
    [1000, "calls"],
  ]);
});

test("foreign values of a history's keys are errors of one structure, and a limiter without a history is empty", async () => {
  const { store, announced } = await scene();
  const limiter = new Limiter(store, POLICIES, { name: "bare" });
  await limiter.take("a");
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Limiter", "bare");
  const view = await json<OutcomeHistory>(get(board, `api/part?id=${id}&part=history`));
  expect(view.outcomes).toEqual([]);
  expect(await json(get(board, `api/part?id=${id}&part=denied`))).toEqual([]);
  const raw = new RespConnection((await redis()).url);
  await raw.send([["SET", `${deniedKey(store, "bare")}:0`, "no set"]]);
  raw.close();
  await expect(store.run(denied, deniedKey(store, "bare"), { added: new Map(), isWanted: true })).rejects.toThrow(
    /is damaged: it is not a sorted set of ids/,
  );
  expect((await get(board, `api/part?id=${id}&part=denied`)).status).toBe(500);
  expect((await get(board, "api/overview")).status).toBe(200);
});
