import { expect, test } from "vitest";
import { memoryStore, type OrielError, SeriesGroup } from "../../src/entries/index.ts";

const LABELS = ["route", "method"] as const;
const GET = { route: "/a", method: "GET" };

test("values are rounded as `resolution` says, and are float32", async () => {
  const group = new SeriesGroup(memoryStore(), "g", { labels: LABELS, resolution: "100us" });
  await group.record(1.26, GET);
  await group.record(0.1, { ...GET, route: "/b" }, { at: Date.now() });
  const { rows } = await group.stats({ by: ["route"] });
  expect(new Map(rows.map(({ labels, max }) => [labels.route, max]))).toEqual(
    new Map([
      ["/a", Math.fround(1.3)],
      ["/b", Math.fround(0.1)],
    ]),
  );
  await group.close();
});

test("labels that are not the declared ones record nothing", async () => {
  const store = memoryStore();
  const group = new SeriesGroup(store, "g", { labels: LABELS });
  const wrong: [labels: unknown, message: RegExp][] = [
    [{ route: "/a" }, /labels\.method is undefined; it must be a string of at most 128 bytes/],
    [{ ...GET, host: "x" }, /option of labels is "host"; it must be one of route, method/],
    [{ ...GET, method: 5 }, /labels\.method is 5; it must be a string/],
    [{ ...GET, route: "é".repeat(65) }, /labels\.route is .*128 bytes/],
    [{ ...GET, route: "\ud800" }, /lone surrogates/],
    [null, /labels is null; it must be an object with route, method/],
    [undefined, /labels is undefined/],
    ["/a", /labels is "\/a"/],
  ];
  for (const [labels, message] of wrong) {
    const call = group.record(1, labels as never);
    await expect(call).rejects.toMatchObject({ code: "ARGUMENT", applied: "no", structure: "SeriesGroup" });
    await expect(call).rejects.toThrow(message);
  }
  for (const value of [Number.NaN, 1e39, "1", undefined])
    await expect(group.record(value as number, GET)).rejects.toMatchObject({ code: "ARGUMENT" });
  await group.record(1, { ...GET, route: "é".repeat(64) });
  expect((await group.stats()).rows.map(({ count }) => count)).toEqual([1]);
  await group.close();
});

test("names and bounds of labels are checked", () => {
  const made = (options: object) => () => new SeriesGroup(memoryStore(), "g", options as never);
  expect(made({})).toThrow(/labels is undefined; it must be an array of 1 to 16 names/);
  expect(made({ labels: [] })).toThrow(/labels is an empty array/);
  expect(made({ labels: ["a", "a"] })).toThrow(/labels\[1\] is "a"; it must be another name than those before it/);
  for (const name of ["", "1a", "a-b", "__proto__", 5, "x".repeat(65)])
    expect(made({ labels: [name] })).toThrow(/labels\[0\] is .*at most 64 letters, digits and _/);
  expect(made({ labels: ["a"], maxGroups: 0 })).toThrow(/maxGroups is 0; it must be a whole number from 1 to 1048575/);
  expect(made({ labels: ["a"], values: "float64" })).toThrow(/option is "values"/);
  expect(made({ labels: ["a"], onStoreError: "local" })).toThrow(/option is "onStoreError"/);
});

test("questions about other labels are refused", async () => {
  const group = new SeriesGroup(memoryStore(), "g", { labels: LABELS });
  const refused = async (asked: Promise<unknown>, message: RegExp) => {
    await expect(asked).rejects.toMatchObject({ code: "ARGUMENT", applied: "no" });
    await expect(asked).rejects.toThrow(message);
  };
  await refused(
    group.stats({ by: ["host"] as never }),
    /by\[0\] is "host"; it must be one of the labels route, method/,
  );
  await refused(group.stats({ by: ["route", "route"] }), /by\[1\] is "route"; it must be .*each once/);
  await refused(group.stats({ match: { host: "x" } as never }), /option of match is "host"/);
  await refused(group.stats({ match: { route: [5] } as never }), /match\.route is 5/);
  await refused(group.top(0), /n is 0; it must be a whole number from 1 to 100000/);
  for (const by of ["p", "p101", "p-1", "rate", 99])
    await refused(group.top(1, { by: by as never }), /by is .*or a percentile such as "p99"/);
  await refused(group.top(1, { labels: ["host"] as never }), /labels\[0\] is "host"/);
  await refused(group.stats({ span: "2h" }), /span is "2h"; it must be at most the retention/);
  await group.close();
  await expect(group.stats()).rejects.toMatchObject({ code: "UNAVAILABLE" });
});

test("observe reports errors and throws none", async () => {
  const store = memoryStore();
  const reports: { error: OrielError; count: number }[] = [];
  store.on("error", (report) => void reports.push(report));
  const group = new SeriesGroup(store, "g", { labels: LABELS });
  group.observe(1, GET);
  group.observe(2, GET, { at: Date.now() });
  group.observe(3, {} as never);
  group.observe(Number.NaN, GET, { at: Date.now() });
  expect((await group.stats({ by: [] })).rows[0]!.count).toBe(2);
  expect(reports.map(({ error }) => [error.code, error.operation])).toEqual([
    ["ARGUMENT", "observe"],
    ["ARGUMENT", "observe"],
  ]);
  await group.close();
});

test("a young copy answers without a request", async () => {
  const store = memoryStore();
  const sent: string[] = [];
  const counted: typeof store = {
    ...store,
    run(step, ...rest) {
      sent.push(step.name);
      return store.run(step, ...rest);
    },
  };
  const group = new SeriesGroup(counted, "g", { labels: LABELS, retention: "1h" });
  await group.record(1, GET);
  const first = await group.stats({ maxAge: "10m" });
  sent.length = 0;
  expect(await group.stats({ maxAge: "10m" })).toMatchObject({ rows: first.rows });
  expect(sent).toEqual([]);
  await group.stats();
  expect(sent.length).toBeGreaterThan(0);
  await group.close();
});

test("a NaN with a sign is NaN as any other", async () => {
  const group = new SeriesGroup(memoryStore(), "g", { labels: LABELS, nan: "ignore" });
  const [signed] = new Float32Array(Uint32Array.of(0xffc0_0000).buffer);
  for (const value of [3, signed!, -1, 0 / Number("0")]) await group.record(value, GET);
  expect((await group.stats()).rows).toMatchObject([{ count: 2, min: -1, max: 3, sum: 2 }]);
  await group.close();
});
