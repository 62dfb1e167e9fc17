import { afterAll, beforeAll, expect, test } from "vitest";
import { benchBreaker, SMALL_BREAKER } from "../../bench/breaker.ts";
import { BREAKER_RIVALS } from "../../bench/rivals/breaker.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server?.stop());

test("breaker: one row per installed rival, and each of them opens", async () => {
  const able = BREAKER_RIVALS.filter((rival) => {
    const reason = rival.missing();
    if (reason) console.warn(`skipped: ${rival.name}: ${reason}`);
    return !reason;
  });
  const { rows } = await benchBreaker(server.url, SMALL_BREAKER);
  expect(rows.map(({ breaker }) => breaker)).toEqual(able.map(({ name }) => name));
  for (const row of rows) expect(row.nsPerCall).toBeGreaterThan(0);
});
