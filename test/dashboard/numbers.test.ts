import { expect, it } from "vitest";
import { LocalSeries, Semaphore, Series } from "../../src/entries/index.ts";
import { dashboard } from "../../src/operate/dashboard/dashboard.ts";
import type { Distribution, RowNumbers, SeriesView } from "../../src/operate/dashboard/protocol.ts";
import { readRegistry } from "../../src/store/registry/read-registry.ts";
import { oncePerFile } from "../harness/ends.ts";
import { RespConnection } from "../harness/network/resp-connection.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { type Answer, entryOf, filledSeries, get, json, sceneOn } from "./scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

async function emptied(): Promise<string> {
  const { url } = await redis();
  const raw = new RespConnection(url);
  await raw.send([["FLUSHALL"]]);
  raw.close();
  return url;
}

/** Script calls that the server has run. */
async function callsOf(url: string): Promise<number> {
  const raw = new RespConnection(url);
  const [stats] = await raw.send([["INFO", "commandstats"]]);
  raw.close();
  return [...String((stats as { bulk: Buffer }).bulk).matchAll(/^cmdstat_(?:evalsha|eval|fcall):calls=(\d+)/gm)].reduce(
    (sum, [, calls]) => sum + Number(calls),
    0,
  );
}

/** A number that is made of sums. One from a copy and one from outlines may differ in the last digit. */
const sumNear = (value: number | null) => expect.closeTo(value!, 9);

it("each bucket of a view is an answer of Series, and few requests answer for all of them", async () => {
  const url = await emptied();
  const { store, announced } = sceneOn(url);
  const series = await filledSeries(store, "api:latency", 5000);
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Series", "api:latency");
  const before = await callsOf(url);
  const view = await json<SeriesView>(get(board, `api/part?id=${id}&part=view&span=300000&below=100`));
  const trips = (await callsOf(url)) - before;
  console.info(`a view of ${view.endsMs.length} buckets: ${trips} script calls`);
  expect(trips).toBeGreaterThan(0);
  expect(trips).toBeLessThanOrEqual(8);
  expect(view.endsMs.length).toBeGreaterThan(90);
  expect(view.endsMs.at(-1)).toBe(view.toMs);
  for (const [i, at] of view.endsMs.entries()) {
    const span = at - (view.endsMs[i - 1] ?? view.fromMs);
    const stats = await series.stats({ span, at });
    const known = (value: number) => (Number.isNaN(value) ? null : value);
    expect([view.count[i], view.rate[i], view.p50[i], view.p90[i], view.p99[i], view.max[i]]).toEqual([
      stats.count,
      (stats.count * 1000) / span,
      ...[50, 90, 99].map((p) => known(stats.percentiles[p as 50])),
      known(stats.max),
    ]);
  }
  const whole = await series.stats({ span: view.toMs - view.fromMs, at: view.toMs });
  const below = await series.fractionBelow(100, { span: view.toMs - view.fromMs, at: view.toMs });
  expect(view.whole).toMatchObject({
    count: whole.count,
    mean: sumNear(whole.mean),
    min: whole.min,
    max: whole.max,
    p99: whole.percentiles[99],
    below,
  });
  expect(view.count.reduce((sum, count) => sum + count, 0)).toBe(whole.count);
  expect(view.heat!.cells.reduce((sum, count) => sum + count, 0)).toBe(whole.count);
  expect(view.heat!.edges[0]).toBe(whole.min);
  expect(view.heat!.edges.at(-1)).toBe(whole.max);
});

it("the distribution of a window equals a brute force over its events", async () => {
  const { store, announced } = sceneOn(await emptied());
  const series = await filledSeries(store, "api:latency", 3000);
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Series", "api:latency");
  const { to } = await series.stats();
  const [from, end] = [to - 200_000, to - 90_000];
  const query = `id=${id}&part=distribution&from=${from}&to=${end}&below=42`;
  const answer = await json<Distribution>(get(board, `api/part?${query}`));
  const values = await series.values({ span: end - from, at: end });
  const local = new LocalSeries({ values: "float32" });
  local.recordMany(values);
  const stats = local.stats({ percentiles: answer.percentiles.map(({ p }) => p) });
  expect(answer.window).toMatchObject({ count: values.length, min: stats.min, max: stats.max });
  expect(answer.window.below).toBeCloseTo([...values].filter((value) => value < 42).length / values.length, 12);
  expect(answer.percentiles.map(({ value }) => value)).toEqual(answer.percentiles.map(({ p }) => stats.percentiles[p]));
  const { edges, counts } = answer.histogram!;
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
  for (const [i, count] of counts.entries()) {
    const isInside = (value: number) =>
      value <= edges[i + 1]! && (value > edges[i]! || (i === 0 && value === edges[0]));
    expect([...values].filter(isInside).length).toBe(count);
  }
  const csv = await get(board, `api/part?${query}&format=csv`);
  expect(csv.headers.get("content-disposition")).toBe('attachment; filename="distribution.csv"');
  const rows = (await csv.text()).trim().split("\r\n");
  expect(rows[0]).toBe("percentile,value");
  expect(rows.slice(1)).toEqual(answer.percentiles.map(({ p, value }) => `${p},${value}`));
  const again = await json<Distribution>(get(board, `api/part?${query}&format=json`));
  const { mean, std } = answer.window;
  expect(again).toEqual({ ...answer, window: { ...answer.window, mean: sumNear(mean), std: sumNear(std) } });
});

it.each([
  ["one value", [5, 5, 5]],
  ["neighbours", [1, 1 + Number.EPSILON, 1]],
  ["large equal values", [1e300, 1e300]],
  ["the largest number", [Number.MAX_VALUE]],
  ["the whole range of numbers", [-Number.MAX_VALUE, 0, Number.MAX_VALUE]],
  ["the least positive numbers", [Number.MIN_VALUE, 1e-310, 2e-300]],
  ["infinities beside numbers", [Number.NEGATIVE_INFINITY, 1, 2, 3, Number.POSITIVE_INFINITY]],
])("every event of %s is in a bin", async (_, values) => {
  const { store, announced } = sceneOn(await emptied());
  const series = new Series(store, "odd", { values: "float64", nan: "ignore" });
  const atMs = (await series.stats()).to - 1000;
  await series.recordMany(values, { at: atMs });
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Series", "odd");
  const { histogram } = await json<Distribution>(get(board, `api/part?id=${id}&part=distribution`));
  const { heat } = await json<SeriesView>(get(board, `api/part?id=${id}&part=view`));
  const sum = (counts: readonly number[] = []) => counts.reduce((total, count) => total + count, 0);
  expect([sum(histogram?.counts), sum(heat?.cells)]).toEqual([values.length, values.length]);
  for (const edges of [histogram?.edges ?? [], heat?.edges ?? []])
    expect([...edges]).toEqual([...new Set(edges)].sort((one, other) => one - other));
});

it("a window with more events than the dashboard reads at once is refused with one clear error", async () => {
  const { store, announced } = sceneOn(await emptied());
  const series = await filledSeries(store, "large", 1);
  for (let batch = 0; batch < 10; batch++) await series.recordMany(new Float64Array(1_000_000).fill(batch));
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Series", "large");
  for (const part of ["view", "distribution"]) {
    const response = await get(board, `api/part?id=${id}&part=${part}`);
    expect(response.status).toBe(413);
    expect(await json(response)).toEqual({
      error: "this window has more events than the dashboard reads at once (9.6 million); choose a shorter span",
      code: "TOO_LARGE",
    });
  }
});

it("the rows of the stream and the ranking equal the answers of Series", async () => {
  const { store, announced } = sceneOn(await emptied());
  const one = await filledSeries(store, "one", 900);
  await filledSeries(store, "two", 300);
  await announced(2);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Series", "one");
  const stream = await get(board, `api/stream?rows=${id},nobody&span=300000`);
  expect(stream.headers.get("content-type")).toBe("text/event-stream");
  const reader = stream.body!.getReader();
  let text = "";
  while (!/event: rows\n.*\n\n/.test(text)) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  const rows = JSON.parse(/event: rows\ndata: (.*)\n/.exec(text)![1]!) as Record<string, RowNumbers>;
  expect(Object.keys(rows)).toEqual([id]);
  const stats = await one.stats({ span: 300_000 });
  expect(rows[id]).toMatchObject({ p50: stats.percentiles[50], p99: stats.percentiles[99], max: stats.max, rate: 3 });
  expect(rows[id]!.spark!.reduce((sum, count) => sum + count, 0)).toBe(900);
  const rank = await json<Record<string, RowNumbers>>(get(board, "api/rank?span=300000"));
  expect(
    Object.values(rank)
      .flatMap(({ rate }) => rate ?? [])
      .sort(),
  ).toEqual([1, 3]);
});

it("the ranking has the problems of a kind without columns", async () => {
  const { store, announced } = sceneOn(await emptied());
  const semaphore = new Semaphore(store, "full", { limit: 1 });
  await semaphore.tryAcquire({ lease: "10m" });
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Semaphore", "full");
  const rank = await json<Record<string, RowNumbers>>(get(board, "api/rank?span=300000"));
  expect(rank[id]).toMatchObject({ state: "all 1 in use", isBad: true });
});

it("a ranking that takes long is renewed less often", async () => {
  const { store, announced } = sceneOn(await emptied());
  await new Semaphore(store, "full", { limit: 1 }).tryAcquire({ lease: "10m" });
  await announced(1);
  let nowMs = 0;
  let requests = 0;
  const run: typeof store.run = (...call) => {
    requests++;
    nowMs += 1000;
    return store.run(...call);
  };
  const board = dashboard({ ...store, monotonic: () => nowMs, run });
  const rank = async () => {
    const before = requests;
    await get(board, "api/rank?span=300000");
    return requests - before;
  };
  expect(await rank()).toBeGreaterThan(0);
  const tookMs = nowMs;
  nowMs += 20 * tookMs - 1;
  expect(await rank()).toBe(0);
  nowMs += 1;
  expect(await rank()).toBeGreaterThan(0);
});

it("the dashboard's own structures do not enter the registry", async () => {
  const { store, announced } = sceneOn(await emptied());
  await filledSeries(store, "watched");
  await announced(1);
  const { store: another, announced: again } = sceneOn((await redis()).url);
  const board = dashboard(another);
  const { id } = await entryOf(board, "Series", "watched");
  await get(board, `api/part?id=${id}&part=view`);
  await again(1);
  const { structures } = await readRegistry(store);
  expect(structures.filter(({ kind }) => kind === "Series").map(({ processes }) => processes)).toEqual([1]);
  expect(structures.filter(({ kind }) => kind !== "Series" && kind !== "Lock")).toEqual([]);
});

it("names of any kind travel unchanged", async () => {
  const { store, announced } = sceneOn(await emptied());
  const names = [
    "<img src=x onerror=alert(1)>",
    "مرحبا",
    "~tilde",
    "a/b?c#d",
    "x".repeat(5000),
    "\u202eevil",
    "line\nbreak",
  ];
  const kept = names.map((name) => new Series(store, name));
  await announced(kept.length);
  const { structures } = await json<Answer>(get(dashboard(store), "api/overview"));
  const found = structures.filter(({ kind }) => kind === "Series");
  expect(found.map(({ name }) => name).sort()).toEqual([...names].sort());
  expect(new Set(found.map(({ id }) => id)).size).toBe(names.length);
});

it.each([
  ["part=view&from=9&to=5", 400, "from is 9; it must be ms since 1970 before to, 5"],
  ["part=view&span=abc", 400, 'span is "abc"; it must be a number'],
  ["part=view&buckets=100000", 400, "buckets is 100000; it must be a whole number from 1 to 400"],
  ["part=nothing", 400, 'part is "nothing"; it must be one of view, distribution for Series'],
  ["part=constructor", 400, "it must be one of view, distribution"],
])("%s is refused with one clear error", async (query, status, message) => {
  const { store, announced } = sceneOn(await emptied());
  await filledSeries(store, "a", 10);
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "Series", "a");
  const response = await get(board, `api/part?id=${id}&${query}`);
  expect(response.status).toBe(status);
  expect((await json<{ error: string }>(response)).error).toContain(message);
});

it("a store that does not answer is reported as down, and the page is answered", async () => {
  const server = await startRedis({ tcp: true });
  const { store } = sceneOn(server.url);
  const board = dashboard(store);
  expect((await json<Answer>(get(board, "api/overview"))).health.state).toBe("up");
  await server.stop();
  const { health, structures } = await json<Answer>(get(dashboard(store), "api/overview"));
  expect([health.state, structures]).toEqual(["down", []]);
  expect(health.reason).toMatch(/./);
});
