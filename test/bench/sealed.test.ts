import { afterAll, beforeAll, expect, test } from "vitest";
import { benchSealed, SMALL_SEALED } from "../../bench/sealed/sealed.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis({ tcp: true });
});
afterAll(() => server?.stop());

test("sealed chunks: fewer bytes, and an answer from outlines in two requests", async () => {
  const { rows } = await benchSealed(server.url, SMALL_SEALED);
  const bytesOf = (form: string, values: string) =>
    Number(rows.find((row) => row.form === form && row.values === values)!.bytesPerEvent);
  expect(bytesOf("as recorded", "unrounded")).toBeGreaterThan(4);
  expect(bytesOf("sealed", "rounded to 1 us")).toBeLessThan(2.2);
  expect(bytesOf("sealed", "unrounded")).toBeLessThan(3.9);
  for (const row of rows.filter(({ form }) => form === "sealed, outlines")) {
    expect(row.requests).toBe(2);
    expect(Number(row.bytes)).toBeLessThan(Number(row.events));
  }
});
