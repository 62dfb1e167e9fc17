import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordHistory, redisStore, Series, SeriesGroup } from "../../../src/entries/index.ts";
import { command } from "../command.ts";
import { openStage, type Stage } from "./stage.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  await stage.latency.recordMany(Array.from({ length: 100 }, (_, i) => i + 1));
});
afterAll(() => stage?.close());

const json = async (...args: string[]) => JSON.parse((await stage.run("stats", ...args, "--json")).stdout);

describe("oriel stats", () => {
  test("a series: the numbers of the span, by the settings of the registry", async () => {
    const { status, stdout, stderr } = await stage.run("stats", "api:latency", "--percentiles", "50,99.9");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^Series api:latency\nvalues float64, clock server, retention 2h\n {2}count +100 in 5m\n/);
    expect(stdout).toMatch(/^ {2}rate +0.3333333\/s$/m);
    expect(stdout).toMatch(/^ {2}max +100$/m);
    expect(stdout).toMatch(/^ {2}p50 +50.5$/m);
    expect(stdout).toMatch(/^ {2}p99.9 +99.901$/m);
    expect(await json("api:latency", "--span", "2h")).toMatchObject({
      kind: "Series",
      name: "api:latency",
      count: 100,
      sum: 5050,
      percentiles: { 50: 50.5, 90: 90.1, 99: 99.01 },
      spanMs: 7_200_000,
      degraded: false,
    });
  });

  test("a name that is not listed is read as a series, with a notice", async () => {
    const { status, stdout, stderr } = await stage.run("stats", "api:latncy");
    expect([status, stdout]).toEqual([0, expect.stringMatching(/count +0 in 5m/)]);
    expect(stderr).toBe(
      'oriel: the registry does not list "api:latncy"; it is read as a Series with default settings; did you mean "api:latency"?\n',
    );
    const other = await stage.run("stats", "api:latency", "--prefix", "other:", "--retention", "1m");
    expect(other).toMatchObject({ status: 2, stderr: expect.stringMatching(/span.*60000 ms/) });
  });

  test("a series of the events' clock that is not listed is read with --clock", async () => {
    const store = redisStore(stage.server.url, { registry: false });
    await new Series(store, "replayed", { retention: "1h", values: "float64", clock: "event" }).record(0.1, {
      at: Date.now(),
    });
    await store.close();
    expect(await stage.run("stats", "replayed")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/MISMATCH|another value type/),
    });
    const { status, stdout } = await stage.run(
      "stats",
      "replayed",
      "--values",
      "float64",
      "--clock",
      "event",
      "--json",
    );
    expect([status, JSON.parse(stdout)]).toMatchObject([0, { count: 1, max: 0.1 }]);
    const wrong = await stage.run("stats", "replayed", "--clock", "wall");
    expect(wrong).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--clock is "wall"; it must be server or event'),
    });
  });

  test("a breaker: the state of the shared circuit", async () => {
    await stage.breaker.run(async () => 1);
    await stage.breaker.flush();
    expect(await json("payments")).toMatchObject({ kind: "Breaker", state: "closed", calls: 1, failures: 0 });
    await stage.breaker.open();
    expect((await stage.run("stats", "payments")).stdout).toMatch(/^ {2}state +open$[\s\S]*^ {2}retry after +\d+ s$/m);
    await stage.breaker.close();
    expect(await json("payments")).toMatchObject({ state: "closed", retryAfterMs: 0 });
    const { status, stderr } = await stage.run("stats", "paiments", "--kind", "breaker");
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/lists no Breaker "paiments".*did you mean "payments"/),
    ]);
  });

  test("a limiter: its policies, and its calls if a process records its history", async () => {
    const history = recordHistory(stage.store);
    for (let i = 0; i < 7; i++) await stage.limiter.take("recorded");
    await history.close();
    expect(await json("api")).toMatchObject({ allowed: 5, denied: 2, shadow: 0, spanMs: 300_000 });
    expect((await stage.run("stats", "api")).stdout).toMatch(/^ {2}denied +2 in 5m$/m);
    expect((await stage.run("stats", "api")).stdout).toMatch(/^per-minute +sliding-window +5 a minute +no$/m);
    expect((await stage.run("stats", "by id")).stdout).toMatch(/^ {2}policies +policies by id$/m);
    expect(await json("api")).toMatchObject({ policies: [{ name: "per-minute", limit: 5 }] });
  });

  test("a queue: its counts", async () => {
    await stage.queue.add({ to: "a" });
    await stage.queue.add({ to: "b" }, { delay: "1h" });
    expect((await stage.run("stats", "sms")).stdout).toMatch(
      /^ {2}waiting +1\n {2}due +1\n {2}claimed +0\n {2}dead +0\n/m,
    );
    expect(await json("sms")).toMatchObject({ kind: "DelayQueue", waiting: 1, due: 1, dead: 0, isPaused: false });
  });

  test("oriel queue takes the shards from the registry", async () => {
    expect((await stage.run("queue", "counts", "sms")).stdout).toBe("waiting 1 · due 1 · claimed 0 · dead 0\n");
    const { status, stderr } = await stage.run("queue", "counts", "sms", "--shards", "1");
    expect([status, stderr]).toEqual([2, expect.stringContaining("MISMATCH")]);
  });

  test("counters: the counts that are still in Redis", async () => {
    await Promise.all([stage.counters.add({ page: "/a" }, 3), stage.counters.add({ page: "/b" }, 4)]);
    expect((await stage.run("stats", "views")).stdout).toMatch(
      /events in Redis +7[\s\S]*^page +count\n\/b +4\n\/a +3$/m,
    );
    expect(await json("views")).toMatchObject({ events: "7", rows: 2, bucket: "minute" });
  });

  test("a fleet: the numbers of each name", async () => {
    const metric = stage.fleet.metric("checkout");
    metric.addAllowed(3);
    metric.addDenied(1);
    await stage.fleet.flush();
    expect((await stage.run("stats", "fleet")).stdout).toMatch(/^checkout +3 +1 +0 +0 +-$/m);
    expect(await json("fleet")).toMatchObject({ intervalMs: 60_000, names: [{ name: "checkout", denied: 1 }] });
  });

  test("a series with labels: all groups together, the ones with the most events, and all of them as JSON", async () => {
    const group = new SeriesGroup(stage.store, "http", { labels: ["route", "method"] });
    const hostile = "\u001b[31m\u202e";
    for (let i = 0; i < 12; i++)
      for (let n = 0; n <= i; n++) await group.record(n + 1, { route: i === 11 ? hostile : `/r${i}`, method: "GET" });
    await group.close();
    await stage.announce("SeriesGroup", "http", { clock: "server", labels: "route method" });
    const { status, stdout, stderr } = await stage.run("stats", "http", "--percentiles", "50,99.9");
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(
      /^SeriesGroup http\nclock server, labels route method\n {2}groups +12\n {2}count +78 in 5m\n/,
    );
    expect(stdout).toMatch(/^ {2}max +12$/m);
    const [head, ...rows] = stdout
      .slice(stdout.indexOf("\nroute ") + 1)
      .trimEnd()
      .split("\n");
    expect(head).toMatch(/^route +method +count +mean +p50 +p99.9 +max$/);
    expect(rows).toHaveLength(10);
    expect(rows[0]).toMatch(/^\\x1b\[31m\\u202e +GET +12 +6.5 +6.5 +11.989 +12$/);
    expect(rows[1]).toMatch(/^\/r10 +GET +11 +6 +6 +10.99 +11$/);
    const { rows: all, ...whole } = await json("http");
    expect(whole).toMatchObject({
      kind: "SeriesGroup",
      count: 78,
      max: 12,
      spanMs: 300_000,
      degraded: false,
      others: 0,
    });
    expect(all).toHaveLength(12);
    expect(all[1]).toMatchObject({ labels: { route: "/r10", method: "GET" }, count: 11, percentiles: { 50: 6 } });
    const top = (await stage.run("top", "http", "--span", "5m", "--once", "--json")).stdout
      .trimEnd()
      .split("\n")
      .map((each) => JSON.parse(each));
    expect(top[1]).toMatchObject({
      kind: "SeriesGroup",
      name: "http",
      rate: 0.26,
      p99: whole.percentiles[99],
      state: "",
    });
    const line = await stage.run("watch", "http", "--every", "100ms", "--count", "1");
    expect(line.stdout).toMatch(/^\d\d:\d\d:\d\d groups 12 · count 78 in 5m · /);
    const missing = await stage.run("stats", "htp", "--kind", "seriesgroup");
    expect([missing.status, missing.stderr]).toEqual([2, expect.stringMatching(/lists no SeriesGroup "htp".*"http"/)]);
  });

  test("a lock, and a kind without live numbers", async () => {
    expect(await json("nightly")).toMatchObject({ kind: "Lock", isHeld: false, fence: null });
    await stage.announce("LockedWindow", "window", { span: 60_000, closed: "right" });
    expect((await stage.run("stats", "window")).stdout).toContain("settings  span 1m, closed right");
  });

  test("a name of two kinds needs --kind", async () => {
    await stage.announce("Lock", "sms", {});
    expect(await stage.run("stats", "sms")).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/^oriel: ARGUMENT the registry lists "sms" as DelayQueue, Lock; pass .* --kind\n/),
    });
    expect(await json("sms", "--kind", "lock")).toMatchObject({ kind: "Lock" });
  });

  test.each([40, 80])("%i columns suffice", async (columns) => {
    for (const name of ["api:latency", "views", "api", "fleet", "http"]) {
      const { stdout } = await command(["stats", name, "--redis", stage.server.url], "", { isTTY: true, columns });
      const { stripVTControlCharacters } = await import("node:util");
      for (const line of stripVTControlCharacters(stdout).split("\n")) expect(line.length).toBeLessThanOrEqual(columns);
    }
  });
});

describe("oriel watch", () => {
  test("a pipe gets a line for each reading", async () => {
    const { status, stdout } = await stage.run("watch", "api:latency", "--every", "100ms", "--count", "3");
    expect(status).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(3);
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d count 100 in 5m · rate .*p99 99.01$/m);
  });

  test("--json prints one object a line", async () => {
    const { stdout } = await stage.run(
      "watch",
      "sms",
      "--kind",
      "delayqueue",
      "--every",
      "100ms",
      "--count",
      "2",
      "--json",
    );
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({ kind: "DelayQueue", name: "sms", due: 1 });
    expect(Date.parse(lines[1].time)).toBeGreaterThan(Date.parse(lines[0].time));
  });

  test.each([
    ["--count", "0", "--count"],
    ["--every", "1ms", "--every"],
  ])("%s %s is refused", async (option, text, named) => {
    const { status, stderr } = await stage.run("watch", "sms", option, text);
    expect([status, stderr]).toEqual([2, expect.stringContaining(named)]);
  });
});
