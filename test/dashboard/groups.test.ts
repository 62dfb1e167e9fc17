import { expect, it } from "vitest";
import { SeriesGroup } from "../../src/entries/index.ts";
import { dashboard } from "../../src/operate/dashboard/dashboard.ts";
import type { GroupsPart } from "../../src/operate/dashboard/parts.ts";
import type { RowNumbers, SeriesView } from "../../src/operate/dashboard/protocol.ts";
import { announce } from "../../src/store/registry/steps/announce.ts";
import { atEnd, oncePerFile } from "../harness/ends.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { emptyScene, entryOf, filledGroup, get, json } from "./scene.ts";

const redis = oncePerFile(() => startRedis({ tcp: true }));

/** A dashboard with one SeriesGroup, and a function that asks for one of its parts. */
async function groupBoard() {
  const { store, announced } = await emptyScene((await redis()).url);
  const group = await filledGroup(store, "http");
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "SeriesGroup", "http");
  const { to } = await group.stats({ percentiles: [] });
  const window = { span: 200_000, at: to };
  const query = `from=${to - window.span}&to=${to}`;
  const ask = (rest: string) => get(board, `api/part?id=${id}&${query}&${rest}`);
  return { store, group, board, id, window, ask };
}

const known = (value: number | undefined) => (value === undefined || Number.isNaN(value) ? null : value);

it("each row is a row of SeriesGroup.stats, in the order that is asked for", async () => {
  const { group, window, ask } = await groupBoard();
  const { rows } = await group.stats(window);
  expect(rows.length).toBeGreaterThan(12);
  const lines = rows.map(({ labels, count, mean, max, percentiles }) => ({
    ...{ values: [labels.route, labels.method], count, rate: count / 200, mean, max },
    ...{ p50: percentiles[50], p90: percentiles[90], p99: percentiles[99] },
  }));
  const all = await json<GroupsPart>(ask("part=rows"));
  expect(all).toMatchObject({ labels: ["route", "method"], by: ["route", "method"], count: rows.length, others: 0 });
  for (const measure of ["count", "rate", "mean", "p50", "p90", "p99", "max"] as const)
    for (const order of ["up", "down"]) {
      const part = await json<GroupsPart>(ask(`part=rows&sort=${measure}&order=${order}`));
      const sign = order === "up" ? 1 : -1;
      const wanted = lines.map((line) => line[measure]).sort((a, b) => sign * (a - b));
      expect([measure, order, part.rows.map((row) => row[measure])]).toEqual([measure, order, wanted]);
      const byValues = (one: { values: readonly string[] }, other: { values: readonly string[] }) =>
        one.values.join() < other.values.join() ? -1 : 1;
      expect([...part.rows].sort(byValues)).toEqual([...lines].sort(byValues));
    }
  const whole = (await group.stats({ ...window, by: [] })).rows[0]!;
  expect(all.whole).toMatchObject({ count: whole.count, mean: whole.mean, max: whole.max, p99: whole.percentiles[99] });
});

it("the rows are those of the labels that are asked for, also in the order of a label", async () => {
  const { group, window, ask } = await groupBoard();
  const part = await json<GroupsPart>(ask("part=rows&by=route&sort=label.route"));
  const { rows } = await group.stats({ ...window, by: ["route"] });
  expect(part.by).toEqual(["route"]);
  // Numbers within texts are in their order: /r2 before /r11.
  const routes = Array.from({ length: 12 }, (_, i) => `/r${i}`).filter((route) =>
    rows.some(({ labels }) => labels.route === route),
  );
  expect(part.rows.map(({ values }) => values)).toEqual(routes.map((route) => [route]));
  const down = await json<GroupsPart>(ask("part=rows&by=route&sort=label.route&order=down"));
  expect(down.rows.map(({ values }) => values[0])).toEqual(routes.reverse());
});

it("each bucket of a row over time is an answer of SeriesGroup, and few requests answer for all of them", async () => {
  const { store, group, window, ask } = await groupBoard();
  const match = { route: "/r0", method: "GET" };
  const asked = `part=view&match=${encodeURIComponent(JSON.stringify(match))}`;
  await ask(asked);
  const steps: string[] = [];
  const { run } = store;
  Object.assign(store, {
    run: (...call: Parameters<typeof run>) => {
      steps.push(call[0].name);
      return run(...call);
    },
  });
  const view = await json<SeriesView>(ask(asked));
  // Upkeep, such as the announcement, goes its own way.
  expect(steps.filter((name) => /read|intern/.test(name)).length).toBeLessThanOrEqual(2);
  expect(view.endsMs.length).toBeGreaterThan(30);
  expect(view.endsMs.length).toBeLessThanOrEqual(61);
  expect(view.endsMs.at(-1)).toBe(view.toMs);
  for (const [i, at] of view.endsMs.entries()) {
    const span = at - (view.endsMs[i - 1] ?? view.fromMs);
    const row = (await group.stats({ span, at, match, by: [] })).rows[0];
    expect([view.count[i], view.rate[i], view.p50[i], view.p90[i], view.p99[i], view.max[i]]).toEqual([
      row?.count ?? 0,
      ((row?.count ?? 0) * 1000) / span,
      ...[50, 90, 99].map((p) => known(row?.percentiles[p as 50])),
      known(row?.max),
    ]);
  }
  const whole = (await group.stats({ ...window, match, by: [] })).rows[0]!;
  expect(view.whole).toMatchObject({ count: whole.count, mean: whole.mean, min: whole.min, max: whole.max });
  expect(view.count.reduce((sum, count) => sum + count, 0)).toBe(whole.count);
});

it("the row of the list has the numbers of all groups together, and says if some count as _other", async () => {
  const { store, announced } = await emptyScene((await redis()).url);
  const group = await filledGroup(store, "http", 900);
  const full = new SeriesGroup(store, "full", { labels: ["user"], maxGroups: 2 });
  atEnd(() => full.close());
  for (const user of ["a", "b", "c", "d", "d"]) await full.record(1, { user });
  await announced(2);
  const board = dashboard(store);
  const rank = await json<Record<string, RowNumbers>>(get(board, "api/rank?span=300000"));
  const whole = (await group.stats({ span: "5m", by: [] })).rows[0]!;
  const { id } = await entryOf(board, "SeriesGroup", "http");
  const { percentiles, max } = whole;
  expect(rank[id]).toMatchObject({ rate: 3, p50: percentiles[50], p90: percentiles[90], p99: percentiles[99], max });
  expect(rank[id]!.state).toBe("");
  expect(rank[id]!.spark!.reduce((sum, count) => sum + count, 0)).toBe(900);
  expect(rank[(await entryOf(board, "SeriesGroup", "full")).id]).toMatchObject({
    state: "3 events count as _other",
    rate: 5 / 300,
  });
});

it("a window without events has no row, and no number", async () => {
  const { board, id } = await groupBoard();
  const at = Date.now() - 2_000_000;
  const empty = await json<GroupsPart>(get(board, `api/part?id=${id}&part=rows&from=${at - 1000}&to=${at}`));
  expect([empty.rows, empty.count, empty.whole.count, empty.whole.p99]).toEqual([[], 0, 0, null]);
  const view = await json<SeriesView>(get(board, `api/part?id=${id}&part=view&from=${at - 1000}&to=${at}`));
  expect([new Set(view.count), new Set(view.p99), view.whole.mean]).toEqual([new Set([0]), new Set([null]), null]);
});

it("a row without the number is last in both orders", async () => {
  const { store, announced } = await emptyScene((await redis()).url);
  const group = new SeriesGroup(store, "gaps", { labels: ["route"], nan: "propagate" });
  atEnd(() => group.close());
  for (const [route, value] of [
    ["none", Number.NaN],
    ["a", 1],
    ["b", -1],
  ] as const)
    await group.record(value, { route });
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "SeriesGroup", "gaps");
  const sorted = async (order: string) =>
    (await json<GroupsPart>(get(board, `api/part?id=${id}&part=rows&sort=p99&order=${order}`))).rows.map(
      ({ p99 }) => p99,
    );
  expect([await sorted("up"), await sorted("down")]).toEqual([
    [-1, 1, null],
    [1, -1, null],
  ]);
});

it("at most 100 rows are sent, the first ones of the order, and the number of all", async () => {
  const { store, announced } = await emptyScene((await redis()).url);
  const group = new SeriesGroup(store, "many", { labels: ["user"] });
  atEnd(() => group.close());
  await Promise.all(Array.from({ length: 250 }, (_, i) => group.record(i, { user: `u${i}` })));
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "SeriesGroup", "many");
  const part = await json<GroupsPart>(get(board, `api/part?id=${id}&part=rows&sort=p99`));
  expect(part.count).toBe(250);
  expect(part.rows.map(({ values }) => values[0])).toEqual(Array.from({ length: 100 }, (_, i) => `u${249 - i}`));
});

it("rows as CSV have the labels and numbers, and no text becomes a formula or another field", async () => {
  const { store, announced } = await emptyScene((await redis()).url);
  const group = new SeriesGroup(store, "odd", { labels: ["route", "count"] });
  atEnd(() => group.close());
  const values = ["=1+1", 'a,"b"', "\u202eevil", ""];
  for (const [i, route] of values.entries()) for (let n = 0; n <= i; n++) await group.record(2, { route, count: "x" });
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "SeriesGroup", "odd");
  const csv = await get(board, `api/part?id=${id}&part=rows&order=up&format=csv`);
  expect(csv.headers.get("content-disposition")).toBe('attachment; filename="rows.csv"');
  const [head, ...lines] = (await csv.text()).trimEnd().split("\r\n");
  expect(head).toBe("route,count,count,rate,mean,p50,p90,p99,max");
  const numbers = (count: number) => `x,${count},${count / 300},2,2,2,2,2`;
  expect(lines).toEqual([
    `'=1+1,${numbers(1)}`,
    `"a,""b""",${numbers(2)}`,
    `\u202eevil,${numbers(3)}`,
    `,${numbers(4)}`,
  ]);
  const view = await get(board, `api/part?id=${id}&part=view&format=csv`);
  expect((await view.text()).split("\r\n")[0]).toBe("end,count,rate,p50,p90,p99,max");
});

it.each([
  ["part=rows&by=route,nothing", 'by[1] is "nothing"; it must be one of the labels route, method, each once'],
  ["part=rows&sort=size", 'sort is "size"; it must be one of count, rate, mean, p50, p90, p99, max, or "label." and'],
  ["part=rows&by=route&sort=label.method", 'sort is "label.method"; it must be one of'],
  ["part=rows&order=left", 'order is "left"; it must be up or down'],
  ["part=view&match=[1]", 'match is "[1]"; it must be an object of labels and their values, in JSON'],
  ["part=view&match=null", 'match is "null"; it must be an object of labels'],
  ["part=view&match={", 'match is "{"; it must be an object of labels'],
  ['part=view&match={"route":1}', "match.route is 1; it must be a string of at most 128 bytes"],
  ['part=view&match={"size":"a"}', "size"],
  ["part=rows&from=9&to=5", "it must be ms since 1970 before to"],
  ["part=nothing", 'part is "nothing"; it must be one of rows, view for SeriesGroup'],
])("%s is refused with one clear error", async (query, message) => {
  const { store, announced } = await emptyScene((await redis()).url);
  await filledGroup(store, "http", 10);
  await announced(1);
  const board = dashboard(store);
  const { id } = await entryOf(board, "SeriesGroup", "http");
  const response = await get(board, `api/part?id=${id}&${query}`);
  expect([response.status, (await json<{ error: string }>(response)).error]).toEqual([
    400,
    expect.stringContaining(message),
  ]);
});

it("settings that no SeriesGroup has are an error of that row alone", async () => {
  const { store, announced } = await emptyScene((await redis()).url);
  await filledGroup(store, "http", 10);
  await announced(1);
  const foreign = { field: 'SeriesGroup "odd"', shared: JSON.stringify({ labels: 5 }), settings: "{}" };
  const by = { process: "web-2:17:ab", version: "0.0.9", record: "{}" };
  await store.run(announce, store.keyOf("registry"), { ...by, structures: [foreign] });
  const board = dashboard(store);
  const rank = await json<Record<string, RowNumbers>>(get(board, "api/rank?span=300000"));
  expect(rank[(await entryOf(board, "SeriesGroup", "http")).id]).toMatchObject({ rate: 10 / 300 });
  expect(rank[(await entryOf(board, "SeriesGroup", "odd")).id]).toEqual({
    error: expect.stringMatching(/^ARGUMENT .*labels is an empty array; it must be an array of 1 to 16 names/),
  });
});
