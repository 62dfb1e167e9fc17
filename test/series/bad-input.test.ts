import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LocalSeries, memoryStore, OrielError, redisStore, Series } from "../../src/entries/index.ts";
import type { IoredisClient } from "../../src/store/redis/ioredis-client.ts";
import { startRedis } from "../harness/servers/redis-server.ts";

const odd = {
  name: [7, null, undefined, {}],
  duration: [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "", "10", "10 s", "1w", "-5s", null, {}],
};

/** Name of the argument, wrong values for it. */
const seriesOptions: [string, unknown[]][] = [
  ["retention", [...odd.duration.filter((value) => value !== null), 2000 * 86_400_000]],
  ["values", ["float16", "", 32, null]],
  ["clock", ["wall", "", 1, null]],
  ["nan", ["drop", true, null]],
  ["maxPendingBytes", [0, 1023, -1, 1e99, 2048.5, Number.NaN, "8MiB"]],
  ["maxResidentBytes", [0, 1023, -1, Number.POSITIVE_INFINITY, 2048.5, Number.NaN, {}]],
];
const windowOptions: [string, unknown[]][] = [
  ["span", [...odd.duration, "61s", 60_001]],
  ["at", [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 1e300, new Date(Number.NaN)]],
  ["closed", ["left", "neither", true, null]],
];
const statsOptions: [string, unknown[]][] = [
  ...windowOptions,
  ["percentiles", [50, "50", null, {}, new Set([1])]],
  ["percentile", []],
  ["method", ["cubic", "", 7, null]],
  ["ddof", [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "1", null]],
];
const lineOptions: [string, unknown[]][] = [
  ...statsOptions.filter(([name]) => name !== "ddof"),
  ["every", [undefined, ...odd.duration, 60_001]],
  ["window", [...odd.duration, 60_000]],
  ["align", ["begin", "", null, 1]],
  ["timeZone", ["Europe/Nowhere", "", null, 7]],
  ["at", [8e15 + 1, -8e15 - 1, Number.MIN_SAFE_INTEGER, new Date(8.64e15)]],
];
const atOptions: [string, unknown[]][] = [
  ["at", [Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 53, new Date(Number.NaN)]],
];

async function refusal(call: () => unknown): Promise<OrielError> {
  try {
    await call();
  } catch (error) {
    expect(error, String(error)).toBeInstanceOf(OrielError);
    return error as OrielError;
  }
  return expect.fail("nothing was refused");
}

/** ARGUMENT, at once or by rejection; the text begins with the argument's name, and says what is allowed. */
async function expectArgument(call: () => unknown, argument: string): Promise<void> {
  const error = await refusal(call);
  expect(error).toMatchObject({ code: "ARGUMENT", applied: "no", transient: false });
  const detail = error.message.replace(/^[A-Z]\w+(\.\w+)?( "([^"\\]|\\.)*")?( \w+)?: /, "");
  expect(detail).toMatch(/^\S+ is [\s\S]+; it must be ./);
  expect(detail.startsWith(argument), error.message).toBe(true);
}

describe("bad input is refused with one clear error before anything is written", () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let client: Redis;
  let store: ReturnType<typeof redisStore>;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
    store = redisStore(client as unknown as IoredisClient);
  });
  afterAll(async () => {
    expect(await client.dbsize()).toBe(0);
    await store.close();
    client.disconnect();
    await server.stop();
  });
  const series = (options = {}) => new Series(store, "bad", { retention: "1m", ...options });
  const local = (options = {}) => new LocalSeries({ retention: "1m", ...options });

  test.each(seriesOptions)("option %s of a series is checked", async (name, wrong) => {
    for (const value of wrong) await expectArgument(() => series({ [name]: value }), name);
    await expectArgument(() => series({ retenton: "1h" }), "option");
  });

  test.each(seriesOptions.filter(([name]) => /retention|values|nan/.test(name)))(
    "option %s of a local series is checked",
    async (name, wrong) => {
      for (const value of wrong.filter((each) => each !== 2000 * 86_400_000))
        await expectArgument(() => local({ [name]: value }), name);
    },
  );

  test.each(statsOptions)("option %s of stats is checked", async (name, wrong) => {
    for (const value of wrong) {
      const options = { [name]: value } as never;
      await expectArgument(() => series().stats(options), name);
      await expectArgument(() => local().stats(options), name);
      await expectArgument(() => Series.stats([series(), series()], options), name);
      if (name !== "at") await expectArgument(() => series().recordAndGet(1, options), name);
    }
    for (const p of [-0.001, 100.001, Number.NaN, "50", null])
      await expectArgument(() => series().stats({ percentiles: [50, p as number] }), "percentile");
  });

  test.each(lineOptions)("option %s of a timeline is checked", async (name, wrong) => {
    for (const value of wrong) {
      const options = { every: 1000, [name]: value } as never;
      await expectArgument(() => series().timeline(options), name);
      await expectArgument(() => local().timeline(options), name);
      await expectArgument(() => Series.timeline([series(), series()], options), name);
    }
  });

  test("a timeline has at most 100 000 buckets, and calendar days are whole", async () => {
    const long = series({ retention: "7d" });
    const said = 'Series "bad" timeline: every is 6000; it must be 6048 ms or more, for at most 100000 buckets';
    await expect(long.timeline({ every: 6000 })).rejects.toThrow(said);
    await expectArgument(() => long.timeline({ every: "36h", timeZone: "UTC" }), "every");
    await expectArgument(() => long.timeline({ every: "1d", timeZone: "UTC", align: "end" }), "align");
    const together = "it must be at most 601200000 ms with this window";
    await expect(long.timeline({ every: "1h", window: "1h", span: "7d" })).rejects.toThrow(`span is "7d"; ${together}`);
    await expectArgument(() => Series.timeline([], { every: "1h" }), "series");
    await expectArgument(() => long.timeline({ every: "1h", ddof: 1 } as never), "option");
  });

  test("options of earlier versions are refused with what happens now", async () => {
    const said = 'option is "approximate"; it must be left out: every answer is exact';
    await expect(series().stats({ approximate: { rankError: 0.1 } } as never)).rejects.toThrow(said);
    expect(() => local().stats({ approximate: { rankError: 0.1 } } as never)).toThrow(said);
    for (const [name, now] of Object.entries({
      seal: "every series is sealed",
      summarize: "every answer is exact",
      compact: "the series chooses what costs less",
      resident: "the series chooses what costs less",
      where: "the series chooses what costs less",
    }))
      expect(() => new Series(store, "s", { [name]: undefined } as never)).toThrow(
        `option is "${name}"; it must be left out: ${now}`,
      );
  });

  test.each(windowOptions)("option %s of values and fractionBelow is checked", async (name, wrong) => {
    for (const value of wrong) {
      const options = { [name]: value } as never;
      await expectArgument(() => series().values(options), name);
      await expectArgument(() => series().fractionBelow(1, options), name);
      await expectArgument(() => local().values(options), name);
      await expectArgument(() => local().fractionBelow(1, options), name);
      await expectArgument(() => series().ranks([1], options), name);
      await expectArgument(() => local().ranks([1], options), name);
      await expectArgument(() => series().histogram({ bounds: [1], ...(options as object) }), name);
      await expectArgument(() => local().histogram({ bounds: [1], ...(options as object) }), name);
    }
    for (const limit of [Number.NaN, "1", undefined, null, 1n])
      await expectArgument(() => series().fractionBelow(limit as number), "limit");
  });

  test("bounds ascend and are numbers, and so are those that are ranked", async () => {
    const asked = [series(), local()].flatMap((one) => [
      { argument: "bounds", ask: (given: unknown) => one.histogram({ bounds: given as number[] }) },
      { argument: "numbers", ask: (given: unknown) => one.ranks(given as number[]) },
    ]);
    for (const { argument, ask } of asked) {
      for (const wrong of [
        undefined,
        null,
        5,
        "12",
        {},
        [],
        new Float64Array(100_001),
        structuredClone(1n),
        { length: 0.5 },
      ])
        await expectArgument(() => ask(wrong), argument);
      for (const wrong of ["1", Number.NaN, null, undefined, 1n])
        await expectArgument(() => ask([1, wrong]), `${argument}[1]`);
      const detached = Float64Array.of(1);
      structuredClone(detached, { transfer: [detached.buffer] });
      await expectArgument(() => ask(detached), argument);
    }
    for (const bounds of [
      [1, 1],
      [2, 1],
      [-0, 0],
      [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    ])
      await expectArgument(() => series().histogram({ bounds }), "bounds[1]");
    await expect(series().histogram({ bounds: [1, 3, 2] })).rejects.toThrow(
      'Series "bad" histogram: bounds[2] is 2; it must be above bounds[1], 3',
    );
    await expectArgument(() => series().histogram({ bounds: [1], percentiles: [5] } as never), "option");
  });

  test("both windows of a comparison are within the retention", async () => {
    for (const one of [series(), local()]) {
      for (const [options, argument] of [
        [{ span: "30s", before: "31s" }, "before"],
        [{ span: "30s", before: 0 }, "before"],
        [{ span: "30s" }, "before"],
        [{ before: "30s" }, "span"],
        [{ span: "1m", before: 1 }, "span"],
        [{ span: "30s", before: "30s", percentiles: [101] }, "percentile"],
        [{ span: "30s", before: "30s", every: 1 }, "option"],
      ] as const)
        await expectArgument(() => one.compare(options as never), argument);
    }
    expect(local().compare({ span: "30s", before: "30s" }).current.count).toBe(0);
  });

  test.each(atOptions)("option %s of recording is checked", async (name, wrong) => {
    for (const value of wrong) {
      const options = { [name]: value } as never;
      await expectArgument(() => series().record(1, options), name);
      await expectArgument(() => series().recordAndGet(1, options), name);
      await expectArgument(() => series().recordMany([1, 2], options), name);
      await expectArgument(() => series().recordMany([1, 2], { at: [1, value as number] }), "at[1]");
      await expectArgument(() => local().record(1, options), name);
    }
    for (const at of [[1], [1, 2, 3], {}, "now"])
      await expectArgument(() => series().recordMany([1, 2], { at: at as never }), "at");
    await expectArgument(() => series({ clock: "event" }).record(1), "at");
  });

  test("values that are no numbers, or not finite under reject, are refused", async () => {
    for (const value of ["1", null, undefined, 1n, {}, Number.NaN, Number.POSITIVE_INFINITY, 3.5e38]) {
      await expectArgument(() => series().record(value as number), "value");
      await expectArgument(() => series().recordAndGet(value as number), "value");
      await expectArgument(() => series().recordMany([1, value as number]), "values[1]");
      await expectArgument(() => local().record(value as number), "value");
      await expectArgument(() => local().recordMany([1, value as number]), "values[1]");
    }
    for (const values of ["12", 5, null, undefined, {}, new DataView(new ArrayBuffer(8))])
      await expectArgument(() => series().recordMany(values as never), "values");
    await series().recordMany([]);
  });

  test("unknown options are refused", async () => {
    await expectArgument(() => series().stats({ spam: 1 } as never), "option");
    await expectArgument(() => series().values({ percentiles: [1] } as never), "option");
    await expectArgument(() => series().record(1, { time: 5 } as never), "option");
    await expectArgument(() => series().recordMany([1], { ats: 5 } as never), "option");
    await expectArgument(() => series().recordAndGet(1, { percentile: 5 } as never), "option");
    await expectArgument(() => Series.stats([], {}), "series");
    await expectArgument(() => Series.stats(undefined as never), "series");
  });

  test("names that would not have a key of their own are refused", async () => {
    for (const name of [...odd.name, "\ud800", "a\udc00b", "x".repeat(10_241), "ä".repeat(5121)])
      for (const one of [store, memoryStore()]) await expectArgument(() => new Series(one, name as string), "name");
  });
});

test("names may have 10 kB, braces, percent signs and globs", async () => {
  const server = await startRedis();
  const client = new Redis(server.url);
  for (const store of [memoryStore(), redisStore(client as unknown as IoredisClient)]) {
    const names = ["%", "%25", "{", "}", "{}", "{a}b", "a{b", "*", "?[a]", "x".repeat(10_240), "\n\0", "𝄞ä"];
    const all = names.map((name) => new Series(store, name));
    await Promise.all(all.map((series, i) => series.record(i + 1)));
    const answers = await Promise.all(all.map((series) => series.stats({ percentiles: [] })));
    expect(answers.map(({ count, sum }) => [count, sum])).toEqual(names.map((_, i) => [1, i + 1]));
    await store.close();
  }
  client.disconnect();
  await server.stop();
});

describe("input that JavaScript would convert", () => {
  const local = () => new LocalSeries({ retention: "1m" });
  const series = () => new Series(memoryStore(), "bad", { retention: "1m" });

  test.each([{ at: null }, { at: "1000" }, { at: true }, { at: [] }])("$at is no instant", async ({ at }) => {
    await expectArgument(() => series().record(1, { at: at as never }), "at");
    await expectArgument(() => series().stats({ at: at as never }), "at");
    await expectArgument(() => local().stats({ at: at as never }), "at");
  });

  test("null is no options object", async () => {
    for (const call of [
      () => new Series(memoryStore(), "bad", null as never),
      () => new LocalSeries(null as never),
      () => series().stats(null as never),
      () => series().values(null as never),
      () => series().recordMany([1], null as never),
      () => series().recordAndGet(1, null as never),
    ])
      expect((await refusal(call)).code).toBe("ARGUMENT");
  });

  test("a method of Object.prototype is no percentile method", async () => {
    for (const method of ["toString", "constructor", "__proto__"])
      await expectArgument(() => series().stats({ method: method as never }), "method");
  });

  test("an object without a valid length is no array of values", async () => {
    for (const length of [-1, 1e15]) await expectArgument(() => series().recordMany({ length } as never), "values");
  });

  test("Series.stats refuses a value that is no series", async () => {
    for (const one of [{}, null, "a", local()])
      expect((await refusal(() => Series.stats([one as never]))).code).toBe("ARGUMENT");
  });

  test("a local series checks its options: the clock must be a function, and unknown options are named", async () => {
    await expectArgument(() => new LocalSeries({ clock: "event" as never }), "clock");
    await expectArgument(() => local().record(1, { time: 5 } as never), "option");
    await expectArgument(() => local().recordMany([1], { time: 5 } as never), "option");
  });
});
