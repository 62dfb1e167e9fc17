import { readFileSync } from "node:fs";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CheckName } from "../../src/operate/doctor/check.ts";
import { AFTER_KEY, COMMANDS_OF, OTHERS } from "../../src/operate/doctor/commands.ts";
import { CHANNEL_FAMILIES, keysOf } from "../../src/operate/doctor/rights.ts";
import { NEEDED_ARGUMENTS } from "../../src/operate/doctor/scripts.ts";
import { command } from "../cli/command.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { sourceFiles } from "../house/sources.ts";
import { reportOf } from "./report-of.ts";

const RULES = /ACL SETUSER app[\s\S]*?(?=```)/
  .exec(readFileSync("docs/servers.md", "utf8"))![0]
  .trim()
  .split(/\s+/)
  .slice(3);

let server: RedisServer;
let raw: Redis;
beforeAll(async () => {
  server = await startRedis({ tcp: true, args: ["--appendonly", "yes", "--appendfsync", "no"] });
  raw = new Redis(server.url);
});
afterAll(async () => {
  raw?.disconnect();
  await server?.stop();
});

async function reportOfUser(...rules: string[]) {
  await raw.call("ACL", "SETUSER", "app", "reset", ...rules);
  return reportOf(server.url.replace("//", "//app:password@"));
}

test("the doctor has the documented keys and channels, and enough arguments for each command", async () => {
  const families = (sign: string) => RULES.filter((rule) => rule.startsWith(sign)).map((rule) => rule.slice(1));
  expect(keysOf("oriel:", "tag").map((key) => key.replace("{tag}", "*"))).toEqual(families("~"));
  expect(Object.keys(CHANNEL_FAMILIES).map((family) => `${family}oriel:*`)).toEqual(families("&"));
  // Redis checks the number of arguments before the rights.
  const inLua = sourceFiles(["lua"], [".lua"]).flatMap(({ text }) => [
    ...text.matchAll(/\b(?:p?call|try)\(\s*["']([A-Z]+)["']/g),
  ]);
  const commands = new Set(inLua.map(([, name]) => name!));
  expect(new Set(Object.values(COMMANDS_OF).flat())).toEqual(commands);
  expect([...commands].sort()).toEqual([...Object.keys(AFTER_KEY), ...OTHERS].sort());
  for (const [command, after] of Object.entries(AFTER_KEY)) {
    await raw.set("k", "0");
    const reply = await raw.call(command, "k", ...after).catch((error: Error) => error.message);
    expect(String(reply), command).not.toMatch(/^ERR/);
    expect(await raw.get("k"), command).toBe(command === "DEL" ? null : "0");
  }
  await raw.del("k");
});

test("the doctor knows the largest command that oriel sends", () => {
  const arities = sourceFiles(["src"], [".ts"]).flatMap(({ text }) => [...text.matchAll(/^ {2}arity: (\d+),/gm)]);
  const keys = /MAX_KEYS = (\d+)/.exec(readFileSync("src/store/delivery/script-store.ts", "utf8"))![1];
  const largest = Math.max(...arities.map(([, arity]) => Number(arity)));
  expect(NEEDED_ARGUMENTS).toBe(3 + Number(keys) * (1 + largest));
});

test("the documented rules are good, and the report names the user", async () => {
  const { status, findings, check } = await reportOfUser(...RULES);
  expect({ status, findings }).toEqual({ status: 0, findings: { functions: "note" } });
  expect(check("connection").facts).toEqual({ tls: false, user: "app" });
});

test.each([
  [
    "-hset",
    { rights: "degraded" },
    /^without HSET, calls of LockedWindow, Counters, DelayQueue and FleetMetrics fail$/,
  ],
  [
    "-@sortedset",
    { rights: "degraded" },
    /^without ZADD, ZCARD, .* and ZSCORE, calls of Limiter, DelayQueue and Dashboard fail$/,
  ],
  ["-@stream", { rights: "degraded" }, /^without XADD and XREVRANGE, calls of Dashboard fail$/],
  [
    "-getrange",
    { rights: "degraded" },
    /^without GETRANGE, calls of Series, SeriesGroup, Limiter, Breaker and Dashboard fail/,
  ],
])("without the right %s", async (rule, findings, text) => {
  const examined = await reportOfUser(...RULES, rule);
  expect(examined.findings).toMatchObject(findings);
  expect(examined.check("rights").text).toMatch(text);
  expect(examined.check("rights").advice).toContain("ACL SETUSER");
  expect(await raw.keys("*")).toEqual([]);
});

test("without the right to SET, nothing else is written", async () => {
  const { status, check, report } = await reportOfUser(...RULES, "-set");
  expect(status).toBe(2);
  expect(check("writes").text).toMatch(/^the server refuses a write: the user's ACL rules do not allow this \(NOPERM/);
  expect(report.checks.map(({ name }) => name)).not.toContain("rights");
  expect(await raw.keys("*")).toEqual([]);
});

test("without a family of keys, without scripts, messages, functions, INFO and ACL", async () => {
  const keys = await reportOfUser(...RULES.filter((rule) => rule !== "~sw_counter_bytes:*"));
  expect(keys.check("rights")).toMatchObject({
    verdict: "degraded",
    text: "keys sw_counter_bytes:* are forbidden, so calls of LockedWindow fail",
    advice: "Run ACL SETUSER app ~sw_counter_bytes:*.",
  });
  expect(keys.check("steps").verdict).toBe("good");
  const scripts = await reportOfUser(...RULES, "-@scripting");
  expect(scripts.check("scripts")).toMatchObject({
    verdict: "unusable",
    text: expect.stringMatching(/^the server refuses EVALSHA and SCRIPT LOAD, which every step needs: .*NOPERM/),
    advice: "Run ACL SETUSER app +evalsha +script|load.",
  });
  const messages = await reportOfUser(...RULES, "-subscribe", "-fcall", "-info", "-acl");
  expect(messages.status).toBe(1);
  expect(messages.findings).toEqual({
    ...{ version: "unknown", mode: "unknown", memory: "unknown", eviction: "unknown", persistence: "unknown" },
    ...{ functions: "note", messages: "degraded" },
  });
  expect(messages.report.server).toBeUndefined();
  expect(messages.check("version").advice).toBe("Run ACL SETUSER app +info.");
  expect(messages.check("messages").advice).toBe("Run ACL SETUSER app +subscribe.");
  const channel = await reportOfUser(...RULES.filter((rule) => rule !== "&oriel:*"));
  expect(channel.check("messages")).toMatchObject({
    verdict: "degraded",
    text: expect.stringContaining("poll every 100 ms"),
  });
  expect(channel.check("messages").advice).toBe("Run ACL SETUSER app &oriel:*.");
  expect(await raw.keys("*")).toEqual([]);
});

const WITHOUT: [rule: string, findings: object, name: CheckName, text: RegExp, advice: string][] = [
  [
    "+evalsha",
    { scripts: "unusable", arguments: "unknown", rights: "unusable", steps: "unusable" },
    "rights",
    /^without EVALSHA, calls of every structure fail$/,
    "+evalsha",
  ],
  [
    "+script|load",
    { scripts: "unusable", arguments: "unknown", rights: "unusable", steps: "unusable" },
    "rights",
    /^without SCRIPT LOAD, calls of every structure fail$/,
    "+script|load",
  ],
  [
    "+wait",
    { functions: "note", rights: "note" },
    "rights",
    /^without WAIT, calls of Series, SeriesGroup, Lock, ReadWriteLock, Semaphore, Counters and DelayQueue with the option replicas fail$/,
    "+wait",
  ],
  [
    "+unsubscribe",
    { functions: "note", messages: "note" },
    "messages",
    /; without UNSUBSCRIBE, processes still receive messages when a wait has ended$/,
    "+unsubscribe",
  ],
  [
    "+publish",
    { functions: "note", messages: "degraded" },
    "messages",
    /NOPERM.*: a waiter for a lock or a permit asks .* at most after 16 s, and a queue's worker every 5 s/,
    "+publish",
  ],
  [
    "&due:oriel:*",
    { functions: "note", messages: "degraded" },
    "messages",
    /^channels due:oriel:\* are forbidden. Once a DelayQueue waits, all waiters of its store poll: /,
    "&due:oriel:*",
  ],
  [
    "~sw_counter_bytes:*",
    { functions: "note", rights: "degraded" },
    "rights",
    /^keys sw_counter_bytes:\* are forbidden, so calls of LockedWindow fail$/,
    "~sw_counter_bytes:*",
  ],
  ["~oriel:*", { writes: "unusable", steps: "unusable" }, "writes", /NOPERM/, "~oriel:*"],
];

test.each(WITHOUT)("without the rule %s, the report names what is lost, and the rule", async (...row) => {
  const [rule, findings, name, text, advice] = row;
  expect(RULES).toContain(rule);
  await raw.script("FLUSH"); // a step that is loaded already runs without SCRIPT LOAD
  const examined = await reportOfUser(...RULES.filter((each) => each !== rule));
  const found = Object.fromEntries(
    Object.keys(findings).map((each) => [each, examined.check(each as CheckName).verdict]),
  );
  expect(found).toEqual(findings);
  expect(examined.check(name).text).toMatch(text);
  expect(examined.check(name)).toMatchObject({ advice: `Run ACL SETUSER app ${advice}.`, rules: [advice] });
  expect(await raw.keys("*")).toEqual([]);
});

test("where scripts are refused for another reason, the report says that it could not look", async () => {
  const noScripts = await reportOfUser(...RULES, "-@scripting");
  expect(noScripts.check("arguments")).toMatchObject({
    verdict: "unknown",
    text: expect.stringMatching(/^not measured, because scripts are refused: .*NOPERM/),
  });
  const noExists = await reportOfUser(...RULES, "-exists");
  expect(noExists.check("undeclared")).toMatchObject({
    verdict: "unknown",
    text: expect.stringMatching(/^scripts may not read their own key either: the user's ACL rules do not allow this/),
  });
  const narrow = await reportOfUser(...RULES.map((rule) => (rule === "~oriel:*" ? "~oriel:{*" : rule)));
  expect(narrow.check("slots")).toMatchObject({
    verdict: "unknown",
    text: expect.stringMatching(/^a script with a key of another slot is refused: .*NOPERM/),
  });
  expect(narrow.status).toBe(1);
  expect(await raw.keys("*")).toEqual([]);
});

test("a user without the right to INFO gets no good verdict", async () => {
  await raw.config("SET", "maxmemory", "50mb", "maxmemory-policy", "allkeys-lru");
  try {
    const { status, report } = await reportOfUser(...RULES, "-info");
    expect({ status, verdict: report.verdict }).toEqual({ status: 1, verdict: "degraded" });
    const { status: printed, stdout } = await command([
      "doctor",
      "--redis",
      server.url.replace("//", "//app:password@"),
    ]);
    expect(printed).toBe(1);
    // A slow machine's round trips are a loss.
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(
      /^degraded: (oriel works here, .*; )?5 checks could not be made \(version, mode, memory, eviction, persistence\)$/,
    );
  } finally {
    await raw.config("SET", "maxmemory", 0, "maxmemory-policy", "noeviction");
  }
});
