import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { matcherOf } from "../../../src/command/live/find.ts";
import { Lock, redisStore, type Store } from "../../../src/entries/index.ts";
import { command } from "../command.ts";
import { openStage, type Stage } from "./stage.ts";

let stage: Stage;
/** Of processes that the registry does not list. */
let quiet: Store;
beforeAll(async () => {
  stage = await openStage();
  quiet = redisStore(stage.server.url, { registry: false });
});
afterAll(async () => {
  await quiet?.close();
  await stage?.close();
});

describe("oriel ls", () => {
  test("lists each structure with its settings, processes, version and age", async () => {
    const { status, stdout, stderr } = await stage.run("ls");
    expect([status, stderr]).toEqual([0, ""]);
    const [head, ...rows] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^kind +name +settings +procs +version +seen$/);
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual([
      ["Breaker", "payments"],
      ["Counters", "views"],
      ["DelayQueue", "sms"],
      ["FleetMetrics", "fleet"],
      ["Limiter", "api"],
      ["Limiter", "by id"],
      ["Lock", "nightly"],
      ["Series", "api:latency"],
    ]);
    expect(stdout).toMatch(
      /^Series +api:latency +values float64, clock server, retention 2h +1 +\d+\.\d+\.\d+ +[\d.]+ m?s ago$/m,
    );
    expect(stdout).toMatch(/^Limiter +api +per-minute: sliding-window 5 a minute +1 /m);
    expect(stdout).toMatch(/^Limiter +by id +policies by id +1 /m);
  });

  test("a pattern and a kind select", async () => {
    expect((await stage.run("ls", "api*")).stdout.trimEnd().split("\n")).toHaveLength(3);
    expect((await stage.run("ls", "api*", "--kind", "series")).stdout.trimEnd().split("\n")).toHaveLength(2);
    expect((await stage.run("ls", "none")).stdout).toBe("Nothing matches. The registry lists 8 structures.\n");
    const { status, stderr } = await stage.run("ls", "--kind", "sereis");
    expect([status, stderr]).toEqual([2, expect.stringMatching(/--kind is "sereis".*did you mean "Series"\?/)]);
  });

  test("an empty list says why", async () => {
    const { status, stdout } = await stage.run("ls", "--prefix", "other:");
    expect(status).toBe(0);
    for (const reason of ["lived for 0.2 s", "registry: false", "another prefix"]) expect(stdout).toContain(reason);
    expect((await stage.run("ls", "--prefix", "other:", "--json")).stdout).toBe("");
  });

  test.each([40, 60, 80, 120])("%i columns suffice", async (columns) => {
    const { url } = stage.server;
    const { stdout } = await command(["ls", "--redis", url], "", { isTTY: true, columns });
    const lines = stripVTControlCharacters(stdout).trimEnd().split("\n");
    expect(lines).toHaveLength(9);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
    expect(lines[8]).toContain("api:latency");
    expect(lines[8]).toContain("ago");
    expect(lines[0]!.includes("settings")).toBe(columns > 40);
  });

  test("both sides of a conflict are shown, and foreign text cannot control a terminal", async () => {
    await stage.announce("DelayQueue", "\u001b]0;x\u0007\u009b31mq", { shards: 8 });
    await stage.announce("DelayQueue", "\u001b]0;x\u0007\u009b31mq", { shards: 2 }, "web-3:4:cd");
    const { stdout } = await stage.run("ls", "*q");
    expect(stdout).toContain("\\x1b]0;x\\x07\\x9b31mq (conflict)");
    expect(stdout).toMatch(
      /two processes use settings that must be the same\n {2}web-3:4:cd, [\d.]+ m?s ago: shards 2\n/,
    );
    expect(stdout).toMatch(/ {2}web-2:17:ab, [\d.]+ m?s ago: shards 8\n$/);
    const json = (await stage.run("ls", "*q", "--json")).stdout;
    expect(JSON.parse(json)).toMatchObject({
      name: "\u001b]0;x\u0007\u009b31mq",
      settings: { shards: 2 },
      conflict: { process: "web-2:17:ab", settings: { shards: 8 } },
    });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test looks for them
    for (const text of [stdout, json]) expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  });
});

describe("oriel lock ls", () => {
  test("lists the held locks with their fence, age, lease and waiters", async () => {
    const unlisted = await new Lock(quiet, "unlisted").tryLock({ lease: "60s" });
    expect((await stage.run("lock", "ls")).stdout).toBe(
      "No listed lock is held. The registry lists 1; oriel lock show NAME reads others too.\n",
    );
    expect((await stage.run("lock", "show", "unlisted")).stdout).toMatch(/^held · /);
    await unlisted?.release();
    const held = (await stage.lock.tryLock({ lease: "60s" }))!;
    const { status, stdout } = await stage.run("lock", "ls");
    expect(status).toBe(0);
    const [head, row] = stdout.trimEnd().split("\n");
    expect(head).toMatch(/^lock +fence +held for +lease left +waiting$/);
    expect(row).toMatch(new RegExp(`^nightly +${held.fence} +[\\d.]+ m?s +(5\\d s|1 m) +0$`));
    expect(JSON.parse((await stage.run("lock", "ls", "night*", "--json")).stdout)).toMatchObject({
      name: "nightly",
      isHeld: true,
      fence: held.fence,
      waitingProcesses: 0,
    });
    expect((await stage.run("lock", "ls", "x*")).stdout).toMatch(/^No listed lock is held/);
    await held.release();
  });

  test("the other words need a name", async () => {
    const { status, stderr } = await stage.run("lock", "show");
    expect([status, stderr]).toEqual([2, expect.stringContaining("the name of the lock")]);
  });
});

test.each([
  ["*", "", true],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["*.latency", "api.latency", true],
  ["*.latency", "api:latency", false],
  ["a*b*c", "a-b-b-c", true],
  ["a*b*c", "a-b-b", false],
  ["?", "𝄞", true],
])("the pattern %j and the name %j: %s", (pattern, name, expected) => {
  expect(matcherOf(pattern)(name)).toBe(expected);
});

test("a pattern of many stars is fast", () => {
  expect(matcherOf("a*".repeat(200))("a".repeat(5000).concat("b"))).toBe(true);
  expect(matcherOf(`${"a*".repeat(200)}c`)("a".repeat(5000))).toBe(false);
});
