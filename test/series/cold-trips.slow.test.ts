import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from "vitest";
import { constants } from "../../src/engine/journal/format/constants.ts";
import { Series } from "../../src/engine/series/series.ts";
import { memoryStore, redisStore } from "../../src/entries/index.ts";
import type { Store } from "../../src/store/contract.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { column, writeSingly } from "./cold-journal.ts";

let server: RedisServer;
let proxy: FaultProxy;
let store: Store;
const { sealAfterMs } = constants;
beforeAll(async () => {
  // Nothing is sealed while calls are counted, however long they take.
  constants.sealAfterMs = 1e9;
  server = await startRedis({ tcp: true });
  proxy = await startProxy(server.port);
});
afterAll(async () => {
  constants.sealAfterMs = sealAfterMs;
  await proxy?.close();
  await server?.stop();
});
beforeEach(() => {
  store = redisStore(proxy.url, { deadline: 20_000, registry: false });
  return () => store.close();
});

/** A series of `count` events in frames of `batch`, and how many script calls another process's question takes. */
async function write(name: string, count: number, batch: number) {
  const writer = new Series(store, name);
  const values = column(count);
  for (let from = 0; from < count; from += batch) await writer.recordMany(values.subarray(from, from + batch));
  return { writer, values };
}

/** How many bytes a cold reader is given at once, until the test is over. */
function foundBytes(bytes: number): void {
  const usual = constants.firstReadBytes;
  constants.firstReadBytes = bytes;
  onTestFinished(() => {
    constants.firstReadBytes = usual;
  });
}

/** By bytes: a look at each of a million values takes seconds. */
function expectSame(got: Float32Array | Float64Array, wanted: Float32Array): void {
  const bytesOf = ({ buffer, byteOffset, byteLength }: typeof got) => Buffer.from(buffer, byteOffset, byteLength);
  expect(bytesOf(got).equals(bytesOf(wanted))).toBe(true);
}

async function calls(ask: () => Promise<unknown>): Promise<number> {
  const before = proxy.handedOn.get("EVALSHA") ?? 0;
  await ask();
  return (proxy.handedOn.get("EVALSHA") ?? 0) - before;
}

test.each([
  ["small frames", 700_000, 1_000],
  ["chunks a little larger than a page", 700_000, 65_535],
])("a cold reader of several chunks sends one request: %s", async (name, count, batch) => {
  const { writer, values } = await write(name, count, batch);
  const reader = new Series(store, name);
  expect(await calls(() => reader.stats())).toBe(1);
  expect(await calls(async () => expectSame(await reader.values(), values))).toBe(1);
  await Promise.all([writer.close(), reader.close()]);
});

test("a cold reader of more than 4 MiB requests the rest by name", async () => {
  const { writer, values } = await write("large", 1_500_000, 60_000);
  await writer.close();
  const reader = new Series(store, "large");
  expect(await calls(async () => expectSame(await reader.values(), values))).toBe(2);
  await reader.close();
});

test("a cold reader of 100 000 events that were recorded one by one sends one request", async () => {
  const { values } = await writeSingly(store, "singly", 100_000);
  const reader = new Series(store, "singly");
  const ask = async () => {
    const { count, max } = await reader.stats();
    expect([count, max]).toEqual([values.length, 10_006]);
  };
  expect(await calls(ask)).toBe(1);
  expect(await calls(ask)).toBe(1);
  await reader.close();
});

test("a window over more chunks than one turn requests takes one call", async () => {
  const usual = constants.rotateBytes;
  constants.rotateBytes = 4_000;
  const { writer, values } = await write("many", 60_000, 1_000);
  constants.rotateBytes = usual;
  await writer.close();
  const reader = new Series(store, "many");
  expect(await calls(async () => expectSame(await reader.values(), values))).toBe(1);
  await reader.close();
});

test("a cold reader of one chunk sends one request, or two if the chunk was closed in between", async () => {
  const { minChunkMs } = constants;
  // Chunks are closed by their size only, however long the machine takes to write them.
  Object.assign(constants, { minChunkMs: Number.POSITIVE_INFINITY });
  onTestFinished(() => void Object.assign(constants, { minChunkMs }));
  const { writer } = await write("closed", 1_000, 1_000);
  const reader = new Series(store, "closed");
  expect(await calls(() => reader.stats())).toBe(1);
  // Enough for three chunks to be closed.
  for (let i = 0; i < 14; i++) await writer.recordMany(column(65_000));
  expect(await calls(async () => expect((await reader.stats()).count).toBe(1_000 + 14 * 65_000))).toBe(2);
  await Promise.all([writer.close(), reader.close()]);
});

test("a chunk with many pages takes one more turn", async () => {
  const { rotateBytes, minChunkMs } = constants;
  // One chunk, however long the machine takes to write it.
  Object.assign(constants, { rotateBytes: 5 << 20, minChunkMs: Number.POSITIVE_INFINITY });
  onTestFinished(() => void Object.assign(constants, { rotateBytes, minChunkMs }));
  const { writer, values } = await write("pages", 1_500_000, 60_000);
  const reader = new Series(store, "pages");
  expect(await calls(async () => expectSame(await reader.values(), values))).toBeLessThanOrEqual(3);
  await Promise.all([writer.close(), reader.close()]);
});

test("a store that does not report which answers share an instant is checked at the end", async () => {
  foundBytes(0);
  const plain = memoryStore({ registry: false });
  const writer = new Series(plain, "memory");
  const values = column(600_000);
  for (let from = 0; from < values.length; from += 60_000)
    await writer.recordMany(values.subarray(from, from + 60_000));
  let last = "";
  let asked = 0;
  const run: Store["run"] = (operation, key, input, options) => {
    asked++;
    last = key;
    return plain.run(operation, key, input, { ...options, ranIn: undefined });
  };
  const reader = new Series({ ...plain, run }, "memory");
  expectSame(await reader.values(), values);
  const { header } = plain.entryOf(plain.keyOf("memory"))!.value as { header: { number: number } };
  // The open chunk, and the same as it would be called were it closed by now.
  expect(last).toBe(`${plain.keyOf("memory")}:${header.number}`);
  expect(asked).toBeGreaterThan(5);
});

test("the deadline bounds one request, not a call with several; a signal bounds the call", async () => {
  const usual = constants.rotateBytes;
  constants.rotateBytes = 4_000;
  foundBytes(0);
  // 16 closed chunks a turn, and the first turn of all.
  const { writer, values } = await write("deadline", 70_000, 1_000);
  constants.rotateBytes = usual;
  const deadlineMs = 3_000;
  const delayMs = 700;
  const hurried = redisStore(proxy.url, { deadline: deadlineMs });
  const reader = new Series(hurried, "deadline");
  const another = new Series(hurried, "deadline");
  await new Series(hurried, "warm").stats();
  proxy.delay(delayMs);
  const beginMs = performance.now();
  expectSame(await reader.values(), values);
  expect(performance.now() - beginMs).toBeGreaterThan(deadlineMs);
  await expect(another.stats({ signal: AbortSignal.timeout(delayMs) })).rejects.toMatchObject({ name: "TimeoutError" });
  proxy.delay(0);
  await Promise.all([writer.close(), reader.close(), another.close()]);
  await hurried.close();
});
