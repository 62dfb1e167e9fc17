import { Redis } from "ioredis";
import { afterEach, expect, test } from "vitest";
import { Counters } from "../../src/counters/counter/counters.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";

const AT = Date.UTC(2026, 10, 21, 12);
const values = { site: "a" };
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function open(
  deadlineMs?: number,
): Promise<{ server: RedisServer; proxy: FaultProxy; flow: Counters; raw: Redis }> {
  const server = await startRedis({ tcp: true });
  const proxy = await startProxy(Number(new URL(server.url).port));
  const store = redisStore(proxy.url, { deadline: deadlineMs });
  const raw = new Redis(server.url);
  ends.push(
    () => server.stop(),
    () => proxy.close(),
    () => store.close(),
    () => raw.disconnect(),
  );
  return { server, proxy, raw, flow: new Counters(store, "flow", { dimensions: ["site"], shards: 1 }) };
}
const countIn = async (flow: Counters) => (await flow.read()).reduce((sum, { count }) => sum + count, 0);

test("each event counts once while one in twenty replies is lost", async () => {
  const { proxy, flow } = await open();
  await flow.add(values, { at: AT });
  for (let i = 1; i < 200; i++) {
    if (i % 20 === 0) proxy.dropReplies(1);
    await flow.add(values, { at: AT });
  }
  expect(await countIn(flow)).toBe(200);
});

test("a batch without a timely reply rejects as unknown, and counts once when the store is back", async () => {
  const { proxy, flow } = await open(2000);
  await flow.add(values, { at: AT });
  proxy.delay(600_000);
  await expect(flow.add(values, { at: AT })).rejects.toMatchObject({ code: "DEADLINE", applied: "unknown" });
  const behind = flow.add(values, { at: AT });
  await expect(behind).rejects.toMatchObject({ applied: "no", transient: true });
  proxy.delay(0);
  proxy.cut();
  await expect
    .poll(() =>
      flow.add(values, { at: AT }).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  expect(await countIn(flow)).toBe(3);
});

test("batches that a failover undid are sent again, in order, and count once", async () => {
  const { raw, flow } = await open();
  for (let i = 0; i < 3; i++) await flow.add(values, { at: AT });
  const [key] = await raw.keys("*");
  const before = await raw.dumpBuffer(key!);
  for (let i = 0; i < 5; i++) await flow.add(values, { at: AT });
  await raw.restore(key!, 0, before!, "REPLACE");
  await flow.add(values, { at: AT });
  expect(await countIn(flow)).toBe(9);
  await raw.restore(key!, 0, before!, "REPLACE");
  await flow.close(); // asks once more
  expect(await countIn(flow)).toBe(9);
});

test("a young producer that the store forgot sends all of its batches again", async () => {
  const { raw, flow } = await open();
  for (let i = 0; i < 3; i++) await flow.add(values, { at: AT });
  await raw.flushall();
  await flow.add(values, { at: AT });
  expect(await countIn(flow)).toBe(4);
});
