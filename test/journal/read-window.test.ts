import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { STATUS } from "../../src/engine/journal/format/answer.ts";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { append } from "../../src/engine/journal/steps/append.ts";
import { readWindow } from "../../src/engine/journal/steps/read-window.ts";
import { closedKey, rotate } from "../../src/engine/journal/steps/rotate.ts";
import { redisStore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

let server: RedisServer;
let store: Store;
let redis: Redis;
beforeAll(async () => {
  server = await startRedis();
  store = redisStore(server.url, { registry: false });
  redis = new Redis(server.url);
});
afterAll(async () => {
  redis?.disconnect();
  await store?.close();
  await server?.stop();
});

/** Chunks of other lengths: each has one event more than the one before. */
async function write(key: string, closed: number): Promise<void> {
  for (let chunk = 0; chunk <= closed; chunk++) {
    const frames = [encodeFrame(1, chunk + 1, new Float32Array(chunk + 1).fill(chunk))];
    const about = { valueType: 0, clock: 0, retentionMs: 60_000, birth: 1, known: "none" as const };
    const { status, header } = await store.run(append, key, { ...about, voidAfterMs: Date.now() + 10_000, frames });
    expect(status).toBe(STATUS.done);
    const { number, birth } = header!;
    if (chunk < closed) await store.run(rotate, key, { number, birth, nextBirth: chunk + 2 });
  }
}

// Redis joins them by sixteens.
test.each([0, 1, 14, 15, 16, 31, 128])("%i closed chunks arrive whole, the newest first", async (closed) => {
  const key = store.keyOf(`window of ${closed}`);
  await write(key, closed);
  const { header, closedChunks } = await store.run(readWindow, key, { spanMs: 6e4, fromMs: 0, maxBytes: 1e7 });
  const chunks = closedChunks?.chunks ?? [];
  expect(chunks).toHaveLength(closed);
  for (const [i, { bytes }] of chunks.entries())
    expect(Buffer.from(bytes)).toEqual(await redis.getBuffer(closedKey(key, header!.number - 1 - i)));
});
