import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  calendarWindow,
  concurrency,
  fixedWindow,
  gcra,
  Limiter,
  leakyBucket,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { announcedPolicies } from "../../../src/operate/kinds/policies.ts";
import { openStage, type Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
});
afterAll(() => stage?.close());

describe("oriel limit", () => {
  const POLICIES = '[{"kind":"sliding-window","limit":5,"span":"1m","name":"per-minute"}]';

  test("peek shows the permits of an id and takes none", async () => {
    await stage.limiter.take("10.0.0.7", { cost: 2 });
    for (const _ of [1, 2]) {
      const { status, stdout } = await stage.run("limit", "peek", "api", "10.0.0.7");
      expect(status).toBe(0);
      expect(stdout).toMatch(
        /^api 10.0.0.7: allowed\npolicy +kind +left +limit +all free in +shadow\nper-minute +sliding-window +3 +5 a minute +(\d+ s|1 m) +no\n$/,
      );
    }
    const json = JSON.parse((await stage.run("limit", "peek", "api", "10.0.0.7", "--cost", "9", "--json")).stdout);
    expect(json).toMatchObject({
      name: "api",
      id: "10.0.0.7",
      allowed: false,
      policy: "per-minute",
      retryAfterMs: null,
    });
    expect((await stage.run("limit", "peek", "api", "10.0.0.7", "--cost", "4")).stdout).toMatch(
      /^api 10.0.0.7: denied by per-minute, for (5\d s|1 m)\n/,
    );
  });

  test("block and its end, and reset", async () => {
    expect((await stage.run("limit", "block", "api", "b", "10m")).stdout).toMatch(/^api b: blocked, for 10 m\n/);
    expect(await stage.limiter.take("b")).toMatchObject({ allowed: false, policy: "block" });
    expect((await stage.run("limit", "block", "api", "b", "0")).stdout).toMatch(/^api b: allowed\n/);
    await stage.limiter.take("b", { cost: 5 });
    expect(await stage.run("limit", "reset", "api", "b")).toMatchObject({ status: 0, stdout: "api b: reset\n" });
    expect(await stage.limiter.take("b", { cost: 5 })).toMatchObject({ allowed: true });
    expect((await stage.run("limit", "reset", "api", "b", "--json")).stdout).toBe(
      '{"name":"api","id":"b","isReset":true}\n',
    );
  });

  test("policies by id: the error asks for --policies, which then decides", async () => {
    const { status, stderr } = await stage.run("limit", "peek", "by id", "u");
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/Limiter "by id" depend on the id.*--policies '\[\{"kind":"sliding-window"/),
    ]);
    await stage.byId.take("u", { cost: 4 });
    const { stdout } = await stage.run("limit", "peek", "by id", "u", "--policies", POLICIES, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ allowed: true, policies: [{ remaining: 1, limit: 5 }] });
    expect(await stage.run("limit", "peek", "ap", "u")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/lists no Limiter "ap"; did you mean "api"\?; pass its policies/),
    });
  });

  test.each([
    [["peek", "api", "u", "10m"], /duration is "10m"; leave it out, because only block takes it/],
    [["block", "api", "u"], /duration is undefined; it must be how long/],
    [["block", "api", "u", "soon"], /duration is "soon"/],
    [["reset", "api", "u", "--cost", "2"], /--cost is "2"; leave it out, because only peek takes it/],
    [["peek", "api", "u", "--policies", "{"], /--policies is "\{"; it must be a JSON array/],
    [["peek", "api", "u", "--policies", '[{"kind":"window"}]'], /kind in --policies is "window"; it must be one of/],
    [
      ["peek", "api", "u", "--policies", '[{"kind":"calendar-window","limit":1,"every":"month","startsAt":31}]'],
      /calendarWindow: startsAt is 31; it must be a day of the month from 1 to 28/,
    ],
    [["peek", "api", "u", "--policies", '[{"kind":"gcra","limit":-1,"span":"1s"}]'], /gcra: limit is -1/],
  ])("%j is refused", async (args, message) => {
    const { status, stdout, stderr } = await stage.run("limit", ...args);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  test("each kind of policy is read from the registry as it was made", () => {
    const policies = [
      fixedWindow({ limit: 3, span: "1h", aligned: true }),
      slidingWindow({ limit: 4, span: 1500, name: "s", shadow: true }),
      leakyBucket({ capacity: 5, span: "1s" }),
      gcra({ limit: 10, span: "1s", burst: 2 }),
      gcra({ limit: 0, span: "1s", name: "none" }),
      concurrency({ limit: 6, lease: "30s" }),
      calendarWindow({ limit: 7, every: "month", timeZone: "Europe/Berlin", startsAt: 15 }),
    ];
    expect(announcedPolicies(JSON.parse(JSON.stringify(policies)))).toEqual(policies);
    expect(() => new Limiter(stage.store, policies, { name: "all" })).not.toThrow();
  });
});

const isNearAnHour = (ms: number) => ms > 3_000_000 && ms <= 3_600_000;

describe("oriel breaker", () => {
  test("ls lists the circuits, open and close order all processes", async () => {
    expect((await stage.run("breaker", "ls")).stdout).toMatch(
      /^breaker +state +calls +failures +slow +window +failing +forced for +retry in\npayments +closed +0 +0 +0 +10s +0 of 0 +- +-\n$/,
    );
    expect((await stage.run("breaker", "open", "payments")).stdout).toMatch(/^payments: open for 30 s\n$/);
    await stage.breaker.flush();
    expect(stage.breaker.stats().state).toBe("open");
    const json = JSON.parse((await stage.run("breaker", "ls", "pay*", "--json")).stdout);
    expect(json).toMatchObject({ name: "payments", state: "open", spanMs: 10_000 });
    expect((await stage.run("breaker", "close", "payments")).stdout).toBe("payments: closed\n");
    await stage.breaker.flush();
    expect(stage.breaker.stats().state).toBe("closed");
    expect((await stage.run("breaker", "ls", "x*")).stdout).toBe("The registry lists no breaker that matches.\n");
    expect(await stage.run("breaker", "open", "x")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("lists no Breaker"),
    });
    expect(await stage.run("breaker", "open")).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("name of the breaker"),
    });
  });

  test("open and close have a length, which reset ends", async () => {
    expect((await stage.run("breaker", "open", "payments", "--for", "10m")).stdout).toMatch(
      /^payments: open for (10|9) m/,
    );
    const close = await stage.run("breaker", "close", "payments", "--for", "1h", "--json");
    expect(JSON.parse(close.stdout)).toMatchObject({
      name: "payments",
      state: "closed",
      forcedMs: expect.toSatisfy(isNearAnHour),
    });
    await stage.breaker.flush();
    expect(stage.breaker.stats().forcedMs).toBeGreaterThan(3_000_000);
    expect((await stage.run("breaker", "reset", "payments")).stdout).toBe("payments: closed\n");
    await stage.breaker.flush();
    expect(stage.breaker.stats().forcedMs).toBe(0);
    for (const [what, length] of [
      ["open", "8d"],
      ["close", "soon"],
      ["reset", "1h"],
      ["ls", "1h"],
    ] as const)
      expect(await stage.run("breaker", what, "payments", "--for", length)).toMatchObject({
        status: 2,
        stderr: expect.stringMatching(/for is "/),
      });
  });

  test("a breaker with settings that are none does not hide the others", async () => {
    await stage.announce("Breaker", "bad", { span: "\u001b[31m" });
    const { status, stdout, stderr } = await stage.run("breaker", "ls");
    expect([status, stdout]).toEqual([1, expect.stringMatching(/^payments +closed/m)]);
    expect(stderr).toMatch(/^oriel: ARGUMENT Breaker "bad".*\nsee \S+#argument\n$/);
    expect(stderr).not.toContain("\u001b");
  });
});

test("a damaged lock does not hide the others", async () => {
  const held = (await stage.lock.tryLock({ lease: "60s" }))!;
  await stage.announce("Lock", "damaged", {});
  const client = new Redis(stage.server.url);
  const keys = await client.keys("*nightly*:lock");
  await client.lpush(keys[0]!.replace("nightly", "damaged"), "1");
  client.disconnect();
  const { status, stdout, stderr } = await stage.run("lock", "ls");
  expect([status, stdout]).toEqual([1, expect.stringMatching(/^nightly +\d+/m)]);
  expect(stderr).toMatch(/^oriel: CORRUPT Lock "damaged"/);
  await held.release();
});
