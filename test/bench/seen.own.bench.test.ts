import { afterAll, beforeAll, expect, test } from "vitest";
import { benchDashboard, SMALL_DASHBOARD } from "../../bench/dashboard/dashboard.ts";
import { benchRegistry, SMALL_REGISTRY } from "../../bench/registry/registry.ts";
import { findChromium } from "../../scripts/find-programs.mjs";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server.stop());

test("registry: both stores with and without it, and one announcement of all structures", async () => {
  const { rows } = await benchRegistry(server.url, SMALL_REGISTRY);
  const pairs = rows.filter(({ ratio }) => typeof ratio === "number");
  expect(pairs.length).toBeGreaterThanOrEqual(4);
  for (const { ratio } of pairs) expect(Number(ratio)).toBeGreaterThan(0);
  expect(rows.at(-1)).toMatchObject({ what: "announcement", serverMicros: expect.any(Number) });
  expect(Number(rows.at(-1)!.serverMicros)).toBeGreaterThan(0);
});

test("dashboard: the server's share beside each page, frames, and the first chart", async () => {
  const { rows } = await benchDashboard(server.url, SMALL_DASHBOARD);
  const shares = rows.filter(({ share }) => typeof share === "number");
  const rowsOf = (page: string) => [
    `the load, without the ${page}`,
    `calls of the ${page}`,
    `all of the ${page}`,
    "  its noise",
  ];
  expect(shares.map(({ what }) => what)).toEqual([...rowsOf("overview"), ...rowsOf("series view")]);
  for (const { what, share } of shares)
    if (/^(the load|calls)/.test(String(what))) expect(Number(share)).toBeGreaterThan(0);
  for (const { eventsPerSecond } of shares) expect(Number(eventsPerSecond)).toBeGreaterThan(0);
  const times = rows.filter(({ ms }) => typeof ms === "number");
  expect(times.length).toBe(findChromium() ? rows.length - shares.length : 0);
  for (const { ms } of times) expect(Number(ms)).toBeGreaterThan(0);
});
