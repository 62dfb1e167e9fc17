import { afterAll, beforeAll, expect, test } from "vitest";
import type { Row } from "../../bench/runner/report.ts";
import { benchBytes, SMALL_BYTES } from "../../bench/sealed/bytes.ts";
import { benchInside, SMALL_INSIDE } from "../../bench/sealed/inside.ts";
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
    // The open chunk is read as it is, and is as long as it happens to be at the end.
    expect(Number(row.bytes) - Number(row.openBytes)).toBeLessThan(Number(row.events) / 2);
  }
});

test("inside: the function reads less than a process without a copy, and is faster than a sorted set", async () => {
  const { rows } = await benchInside(server.url, SMALL_INSIDE);
  const [inside, process, sortedSet] = rows;
  expect(rows.map(({ by }) => by).slice(0, 2)).toEqual(["oriel_window", "a process without a copy"]);
  expect(Number(inside!.bytes)).toBeLessThan(Number(process!.bytes) / 10);
  expect(Number(inside!.serverUs)).toBeLessThan(Number(sortedSet!.serverUs));
});

test("bytes: sealed chunks take less than each rival that was measured", async () => {
  const { rows, notes } = await benchBytes(server.url, SMALL_BYTES);
  for (const values of ["rounded to 1 us", "unrounded"]) {
    const of = (row: Row) => Number(row.bytesPerEvent || row.memoryPerEvent);
    const measured = rows.filter((row) => row.values === values && row.source === "measured");
    const sealed = measured.find(({ by }) => by === "oriel, sealed")!;
    const others = measured.filter((row) => row !== sealed);
    expect(others.length).toBeGreaterThan(3);
    for (const row of others) expect(of(row), String(row.by)).toBeGreaterThan(of(sealed));
  }
  const published = rows.filter(({ source }) => source === "published");
  expect(published.map(({ bytesPerEvent }) => bytesPerEvent)).toEqual([16, 1.6, 16, 1.6]);
  expect(notes.join()).toContain("https://redis.io/");
});
