import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Series } from "../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { Scene } from "./scene.ts";

let server: RedisServer;
let direct: Redis;
let scene: Scene;
beforeAll(async () => {
  server = await startRedis();
  direct = new Redis(server.url);
});
afterEach(() => scene.close());
afterAll(async () => {
  direct?.disconnect();
  await server?.stop();
});

const keyOf = ({ name }: Scene) => `oriel:{${name}}`;

/** What Redis holds of the series now; the function returned makes it so again, as a restored backup does. */
async function backUp(): Promise<() => Promise<void>> {
  const key = keyOf(scene);
  const kept = new Map<string, Buffer>();
  for (const each of await direct.keys("oriel:*")) kept.set(each, (await direct.dumpBuffer(each))!);
  return async () => {
    await direct.del(key, ...(await direct.keys("oriel:*")));
    for (const [each, dump] of kept) await direct.call("RESTORE", each, String(Date.now() + 60_000), dump, "ABSTTL");
  };
}

/** Enough for a chunk to be full; the next call closes it. */
async function fillChunk(series: Series): Promise<void> {
  for (let i = 0; i < 2; i++) await scene.record(series, 65_000);
  const number = async () => (await direct.getBuffer(keyOf(scene)))!.readDoubleLE(8);
  const before = await number();
  while ((await number()) === before) await scene.record(series);
}

describe("a journal that was rolled back", () => {
  test("within the open chunk: writers and readers of the lost events report it, and no other process does", async () => {
    scene = new Scene("tail");
    const [writer, reader, onlooker] = [scene.open(server.url), scene.open(server.url), scene.open(server.url)];
    await scene.record(writer, 10);
    await onlooker.stats();
    const restore = await backUp();
    await scene.record(writer, 3);
    expect((await reader.stats()).count).toBe(13);
    await restore();
    // Others write on, past the length that was seen.
    await scene.record(onlooker, 20);
    expect(await reader.stats()).toMatchObject({ count: 30, degradedBy: "lost" });
    expect(await onlooker.stats()).toMatchObject({ count: 30, degraded: false });
    expect(await scene.settle(server.url, direct, { mayLose: true })).toEqual([11, 12, 13]);
  });

  test("a writer that never queries sees that the chunk is shorter than it was", async () => {
    scene = new Scene("writer");
    const writer = scene.open(server.url);
    await scene.record(writer, 10);
    const restore = await backUp();
    await scene.record(writer, 50);
    await restore();
    await scene.record(writer, 2);
    expect(await writer.stats()).toMatchObject({ count: 12, degradedBy: "lost" });
    expect(await scene.settle(server.url, direct, { mayLose: true })).toHaveLength(50);
  });

  test("before a rotation that was repeated: the copy's chunk and the one with its number differ", async () => {
    scene = new Scene("rotated");
    const [writer, reader] = [scene.open(server.url), scene.open(server.url)];
    await scene.record(writer, 10);
    const restore = await backUp();
    await scene.record(writer, 7);
    await reader.stats();
    await restore();
    await fillChunk(scene.open(server.url));
    expect(await reader.stats()).toMatchObject({ degradedBy: "lost" });
    expect(await scene.settle(server.url, direct, { mayLose: true })).toHaveLength(7);
  });
});

test("a series that was deleted and created again lost nothing", async () => {
  scene = new Scene("deleted");
  const [writer, reader] = [scene.open(server.url), scene.open(server.url)];
  await scene.record(writer, 10);
  await reader.stats();
  await writer.delete();
  expect(await reader.stats()).toMatchObject({ count: 0, degraded: false });
  await scene.record(writer);
  expect(await reader.stats()).toMatchObject({ count: 1, degraded: false });
  expect(await writer.stats()).toMatchObject({ count: 1, degraded: false });
});
