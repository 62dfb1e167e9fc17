import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  calendarWindow,
  concurrency,
  fixedWindow,
  gcra,
  Limiter,
  leakyBucket,
  localDecisions,
  type Policy,
  slidingWindow,
} from "../../src/entries/index.ts";
import { type OpenStore, onMemory, onRedis } from "../harness/clock/stepped-stores.ts";

type Span = number | "1s";
const make: Record<string, (limit: number, span: Span, more?: object) => Policy> = {
  "fixed-window": (limit, span, more) => fixedWindow({ limit, span, ...more }),
  "fixed-window, aligned": (limit, span, more) => fixedWindow({ limit, span, aligned: true, ...more }),
  "sliding-window": (limit, span, more) => slidingWindow({ limit, span, ...more }),
  leakyBucket: (capacity, span, more) => leakyBucket({ capacity, span, ...more }),
  gcra: (limit, span, more) => gcra({ limit, span, ...more }),
  concurrency: (limit, lease, more) => concurrency({ limit, lease, ...more }),
};
const argument = (named: string) =>
  expect.objectContaining({
    name: "OrielError",
    code: "ARGUMENT",
    message: expect.stringMatching(named.replace("^", "(^|: )")),
  });
const thrown = (step: () => unknown): unknown => {
  try {
    return step();
  } catch (error) {
    return error;
  }
};

describe.each(Object.keys(make))("%s", (kind) => {
  const of = make[kind]!;
  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "3", null])(
    "limit %s is refused by name",
    (limit) => {
      expect(thrown(() => of(limit as number, 1000))).toEqual(argument("^(limit|capacity) is "));
    },
  );

  test.each([
    0,
    0.9,
    -5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 52 + 1,
    2 ** 53,
    2 ** 60,
    "soon",
    "10 s",
    null,
    {},
  ])("span %s is refused by name", (span) => {
    expect(thrown(() => of(1, span as number))).toEqual(argument("^(span|lease) is .*ms"));
  });

  test("other options are refused by name", () => {
    expect(thrown(() => of(1, 1000, { windwo: 1 }))).toEqual(argument('option is "windwo"'));
    for (const name of ["", "a:b", "a b", "x".repeat(65), 5])
      expect(thrown(() => of(1, 1000, { name }))).toEqual(argument("^name is "));
    expect(thrown(() => of(1, 1000, { shadow: "yes" }))).toEqual(argument("^shadow is "));
  });

  test("spans have 1 ms to many years, floored to whole ms", () => {
    expect(of(1, 1.5).spanMs).toBe(1);
    expect(of(1, 2 ** 52).spanMs).toBe(2 ** 52);
  });
});

test("options of a single policy are checked", () => {
  expect(thrown(() => fixedWindow({ limit: 1, span: 1, aligned: 1 as never }))).toEqual(argument("^aligned is "));
  expect(thrown(() => gcra({ limit: 1, span: 1, burst: -1 }))).toEqual(argument("^burst is "));
  expect(thrown(() => gcra({ limit: 2 ** 30, span: 2 ** 30 }))).toEqual(argument("^limit is .* to 4194304"));
  expect(thrown(() => leakyBucket({ capacity: 2, span: 2 ** 52 }))).toEqual(argument("^capacity is .* to 1"));
  expect(thrown(() => concurrency({ limit: 10_001, lease: 1 }))).toEqual(argument("^limit is .* to 10000"));
  expect(thrown(() => slidingWindow({ limit: 2 ** 47 + 1, span: 1 }))).toEqual(argument("^limit is "));
  expect(thrown(() => slidingWindow(undefined as never))).toEqual(argument("^options is "));
});

test.each([
  [{ every: "year" }, /^calendarWindow: every is "year"; it must be "day", "week" or "month"$/],
  [{}, /^calendarWindow: every is undefined; it must be "day", "week" or "month"$/],
  [
    { every: "day", timeZone: "Mars/Olympus" },
    /^calendarWindow: timeZone is "Mars\/Olympus"; it must be a time zone of the IANA database, like "UTC" or "Europe\/Berlin"$/,
  ],
  [{ every: "day", timeZone: "" }, /^calendarWindow: timeZone is ""; it must be a time zone/],
  [{ every: "day", timeZone: 5 }, /^calendarWindow: timeZone is 5; it must be a string$/],
  [{ every: "day", startsAt: 24 }, /^calendarWindow: startsAt is 24; it must be an hour of the day from 0 to 23$/],
  [{ every: "day", startsAt: -1 }, /startsAt is -1; it must be an hour of the day from 0 to 23$/],
  [{ every: "week", startsAt: 0 }, /startsAt is 0; it must be a day of the week from 1 \(Monday\) to 7 \(Sunday\)$/],
  [
    { every: "month", startsAt: 31 },
    /^calendarWindow: startsAt is 31; it must be a day of the month from 1 to 28, which every month has$/,
  ],
  [{ every: "month", startsAt: 1.5 }, /startsAt is 1.5; it must be a day of the month/],
  [{ every: "month", startsAt: null }, /startsAt is null; it must be a day of the month/],
  [{ every: "month", limit: 0.5 }, /^calendarWindow: limit is 0.5; it must be an integer number of permits from 0 to /],
  [{ every: "month", span: "1m" }, /calendarWindow: option is "span"/],
  [{ every: "month", name: "a b" }, /^calendarWindow: name is "a b"; it must be 1 to 64 characters/],
])("calendarWindow(%j) is refused with its bound", (options, message) => {
  const error = thrown(() => calendarWindow({ limit: 1, ...options } as never));
  expect(error).toMatchObject({ name: "OrielError", code: "ARGUMENT", message: expect.stringMatching(message) });
});

const stores = { memory: onMemory, redis: () => onRedis(), cluster: () => onRedis(true) };
describe.each(Object.keys(stores) as (keyof typeof stores)[])("in %s", (name) => {
  let opened: OpenStore;
  const limiterOf = (policies: readonly Policy[], options = {}) =>
    new Limiter(opened.store, policies, { name: "bad", ...options });
  beforeAll(async () => {
    opened = await stores[name]();
  });
  afterAll(() => opened?.close());

  test.each(Object.keys(make))(
    "%s: limits 0 and 1, and costs that are 0, negative, fractional or above the limit",
    async (kind) => {
      await opened.clear();
      const none = limiterOf([make[kind]!(0, 1000)]);
      expect(await none.take("none")).toMatchObject({
        allowed: false,
        retryAfterMs: Number.POSITIVE_INFINITY,
        remaining: 0,
      });
      expect(await none.take("none", { cost: 0 })).toMatchObject({ allowed: true, granted: 0 });
      const one = limiterOf([make[kind]!(1, 1000)]);
      expect(await one.take("one", { cost: 0 })).toMatchObject({
        allowed: true,
        granted: 0,
        remaining: 1,
        resetAfterMs: 0,
      });
      expect(await one.take("one", { cost: 2 })).toMatchObject({
        allowed: false,
        retryAfterMs: Number.POSITIVE_INFINITY,
        remaining: 1,
      });
      expect(await one.take("one")).toMatchObject({ allowed: true, granted: 1, remaining: 0 });
      const denied = await one.take("one");
      expect(denied).toMatchObject({ allowed: false, retryAfterMs: 1000, resetAfterMs: 1000 });
      expect(await one.take("one", { cost: 0 })).toMatchObject({ allowed: true, remaining: 0 });
      for (const cost of [-1, -0.5, 0.5, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "1"]) {
        await expect(one.take("one", { cost: cost as number })).rejects.toEqual(
          argument("^cost is .* from 0 to 2147483647"),
        );
        await expect(one.peek("one", { cost: cost as number })).rejects.toEqual(argument("^cost is "));
        await expect(one.penalty("one", cost as number)).rejects.toEqual(argument("^permits is "));
        await expect(one.reserve("one", { cost: cost as number, lease: 1 })).rejects.toEqual(argument("^cost is "));
      }
      opened.clock.nowMs += 1000;
      expect(await one.take("one")).toMatchObject({ allowed: true });
      expect(await one.take("big", { cost: 2 ** 31 - 1 })).toMatchObject({
        allowed: false,
        retryAfterMs: Number.POSITIVE_INFINITY,
      });
    },
  );

  test.each(Object.keys(make))("%s: a span of 1 ms and the longest one", async (kind) => {
    await opened.clear();
    for (const [id, span] of [
      ["short", 1],
      ["long", 2 ** 52],
    ] as const) {
      const limiter = limiterOf([make[kind]!(1, span)]);
      expect(await limiter.take(id)).toMatchObject({ allowed: true });
      const { retryAfterMs } = await limiter.take(id);
      if (kind.endsWith("aligned")) expect(retryAfterMs).toBe(span - (opened.clock.nowMs % span));
      else expect(retryAfterMs).toBe(span);
      const expiries = [...(await opened.expiries()).values()];
      expect(expiries.every((atMs) => Number.isSafeInteger(atMs) && atMs > 0)).toBe(true);
    }
    opened.clock.nowMs += 1;
    expect(await limiterOf([make[kind]!(1, 1)]).take("short")).toMatchObject({ allowed: true });
  });

  test("ids of any kind are counted and reset separately", async () => {
    await opened.clear();
    const ids = ["", "%", "{}", "a{b}c", "}{", "*", "?", "[x]", "a:b", "a!holds", "ä€𝄞", "\0\n", "x".repeat(10_000)];
    for (const tag of [undefined, "{t}*"]) {
      const limiter = limiterOf([slidingWindow({ limit: 1, span: 1000 })]);
      const of = { ...(tag !== undefined && { tag }) };
      expect((await Promise.all(ids.map((id) => limiter.take(id, of)))).map(({ allowed }) => allowed)).toEqual(
        ids.map(() => true),
      );
      expect((await Promise.all(ids.map((id) => limiter.take(id, of)))).map(({ allowed }) => allowed)).toEqual(
        ids.map(() => false),
      );
      for (const [i, id] of ids.entries()) {
        await limiter.reset(id, of);
        const left = await Promise.all(ids.map((each) => limiter.peek(each, of)));
        expect(left.map(({ allowed }) => allowed)).toEqual(ids.map((_, at) => at <= i));
      }
    }
  });

  test("ids, tags, requests and permits that no key can have are refused before any change", async () => {
    await opened.clear();
    const limiter = limiterOf([slidingWindow({ limit: 1, span: 1000 })]);
    for (const id of ["x".repeat(10_240), "é".repeat(5200), "\ud800", 5, null, undefined] as string[]) {
      for (const call of [
        limiter.take(id),
        limiter.peek(id),
        limiter.penalty(id),
        limiter.reset(id),
        limiter.acquire(id),
      ])
        await expect(call).rejects.toEqual(argument("^id is "));
    }
    for (const tag of ["x".repeat(10_241), "\ud800", 5 as never])
      await expect(limiter.take("a", { tag })).rejects.toEqual(argument("^tag is "));
    for (const requestId of ["", "x".repeat(257), "\ud800", 5 as never])
      await expect(limiter.take("a", { requestId })).rejects.toEqual(argument("^requestId is "));
    await expect(limiter.release("a", "no permit")).rejects.toEqual(argument("^permit is "));
    expect(await opened.expiries()).toEqual(new Map());
  });

  test("options of calls are checked", async () => {
    await opened.clear();
    const limiter = limiterOf([slidingWindow({ limit: 1, span: 1000 })]);
    await expect(limiter.take("a", { costs: 1 } as never)).rejects.toEqual(argument('option is "costs"'));
    for (const atLeast of [0, -1, 1.5, 3])
      await expect(limiter.take("a", { cost: 2, atLeast })).rejects.toEqual(argument("^atLeast is "));
    for (const policies of [[], [leakyBucket({ capacity: 1, span: 1 })], 5 as never])
      await expect(limiter.take("a", { policies })).rejects.toEqual(argument("^policies is "));
    for (const wait of [-1, Number.NaN, 2 ** 31])
      await expect(limiter.acquire("a", { wait })).rejects.toEqual(argument("^wait is "));
    await expect(limiter.block("a", -1)).rejects.toEqual(argument("^duration is "));
    await expect(limiter.reserve("a", { cost: 1, lease: 0 })).rejects.toEqual(argument("^lease is "));
    for (const requests of [
      [],
      undefined,
      [undefined],
      [{ limiter: {}, id: "a" }],
      [
        { limiter, id: "a" },
        { limiter, id: "a" },
      ],
    ])
      await expect(Limiter.takeAll(requests as never, { tag: "t" })).rejects.toEqual(argument("^requests is "));
    await expect(Limiter.takeAll([{ limiter, id: "a", atLeast: 1 } as never], { tag: "t" })).rejects.toEqual(
      argument('^option of a request is "atLeast"'),
    );
    await expect(Limiter.takeAll([{ limiter, id: "a" }], { tag: 5 as never })).rejects.toEqual(argument("^tag is "));
    expect(await opened.expiries()).toEqual(new Map());
  });

  test("options of limiters are checked", () => {
    const one = [slidingWindow({ limit: 1, span: 1000 })];
    expect(thrown(() => limiterOf([]))).toEqual(argument("^policies is "));
    expect(thrown(() => limiterOf([...one, ...one]))).toEqual(argument("^policies is .*different names"));
    expect(thrown(() => limiterOf([{}] as never))).toEqual(argument("^policies is "));
    for (const [option, value] of Object.entries({ name: 5, onStoreError: "local", denyCache: 101 }))
      expect(thrown(() => limiterOf(one, { [option]: value }))).toEqual(argument(`^${option} is `));
    expect(thrown(() => localDecisions({ share: 0 }))).toEqual(argument("^share is "));
  });
});
