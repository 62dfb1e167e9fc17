import { afterAll, beforeAll, expect, test } from "vitest";
import type { Check, CheckName } from "../../src/operate/doctor/check.ts";
import { startLua54 } from "../harness/lua54/server.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { startRestricted } from "../harness/servers/restricted.ts";
import { RESTRICTIONS } from "../harness/servers/restrictions.ts";
import { reportOf } from "./report-of.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true, args: ["--appendonly", "yes", "--appendfsync", "no"] });
});
afterAll(() => server?.stop());

const ONLY_NOTES = 0;
const undeclared = { verdict: "note", facts: { allowed: false } };
const slots = { verdict: "note", facts: { oneSlotPerScript: true } };
const most = { verdict: "note", facts: { atMost: 3999 }, text: expect.stringContaining("oriel sends up to 2051") };
const functions = { verdict: "note", facts: { available: false } };
const rights = { verdict: "note", text: expect.stringMatching(/^without WAIT, .* replicas fail$/) };
const messages = {
  verdict: "degraded",
  text: expect.stringContaining("waiters for a lock or a permit poll every 100 ms"),
};

const EXPECTED: Record<keyof typeof RESTRICTIONS, [number, Partial<Record<CheckName, object>>]> = {
  "only declared keys in scripts": [ONLY_NOTES, { undeclared }],
  "slots behind a plain client": [ONLY_NOTES, { slots }],
  "a key for each script, 3 999 arguments": [ONLY_NOTES, { arguments: most }],
  "no functions": [ONLY_NOTES, { functions }],
  "no messages": [1, { messages }],
  "all of these": [1, { undeclared, slots, arguments: most, functions, messages, rights }],
};

test.each(Object.entries(RESTRICTIONS))("a server with the restriction: %s", async (name, restriction) => {
  const proxy = await startRestricted(server.port, restriction);
  const [status, expected] = EXPECTED[name as keyof typeof RESTRICTIONS];
  try {
    const examined = await reportOf(proxy.url);
    const found = Object.keys(examined.findings);
    expect(found.sort()).toEqual(Object.keys(expected).sort());
    for (const each of found as CheckName[]) expect(examined.check(each) as Check, each).toMatchObject(expected[each]!);
    expect(examined.status).toBe(status);
    expect(examined.check("steps").verdict).toBe("good");
  } finally {
    await proxy.stop();
  }
});

test("a server with Lua 5.4 that refuses the first line of scripts, as Dragonfly does", async () => {
  const proxy = await startLua54(server.url);
  try {
    const examined = await reportOf(proxy.url);
    expect(examined.check("scripts")).toMatchObject({
      verdict: "good",
      text: "scripts run in Lua 5.4, without their first line #!lua",
    });
    expect(Object.keys(examined.findings)).toEqual(["functions"]);
    expect(examined.check("steps").verdict).toBe("good");
  } finally {
    await proxy.stop();
  }
});
