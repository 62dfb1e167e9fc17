import fc from "fast-check";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { redisStore, Series } from "../../src/entries/index.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { expectStats, inside } from "../stats/oracle.ts";
import { storeWith } from "./contract/changed-store.ts";
import { expectError } from "./contract/stage.ts";

const NAME = "aged";

/** A reader whose reads are counted (and take `tripMs`), beside a writer that is somebody else. */
function stage(tripMs = 0) {
  let reads = 0;
  let fails = false;
  const { store, plain, clock } = storeWith(async (_name, _key, run) => {
    reads++;
    if (fails) throw new Error("out of reach");
    const answer = await run();
    clock.nowMs += tripMs;
    return answer;
  });
  const options = { retention: "10m" } as const;
  const trips = () => {
    const counted = reads;
    reads = 0;
    return counted;
  };
  const fail = (now: boolean) => {
    fails = now;
  };
  return { reader: new Series(store, NAME, options), writer: new Series(plain, NAME, options), clock, trips, fail };
}

describe("maxAge", () => {
  // Wall time, which detects that a machine slept, continues in a test that waits for the processor.
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }));
  afterEach(() => void vi.useRealTimers());

  test("answers from the copy within the age, exact to the ms, as of that time; then the store is asked", async () => {
    const { reader, writer, clock, trips } = stage();
    await writer.recordMany([1, 2, 3]);
    const first = await reader.stats();
    expect([trips(), first.count, first.to]).toEqual([1, 3, clock.nowMs]);
    await writer.record(4);
    clock.nowMs += 100;
    expect(await reader.stats({ maxAge: "100ms" })).toEqual({ ...first, asOfMs: first.to });
    expect(await reader.fractionBelow(2, { maxAge: 100 })).toBe(1 / 3);
    expect([...(await reader.values({ maxAge: 100 }))]).toEqual([1, 2, 3]);
    expect((await reader.stats({ maxAge: 100, span: 50 })).to).toBe(first.to);
    expect((await Series.stats([reader, reader], { maxAge: 100 })).count).toBe(6);
    expect(trips()).toBe(0);
    clock.nowMs += 1;
    // It asks for an answer, reads, and publishes its own.
    expect(await reader.stats({ maxAge: "100ms" })).toMatchObject({ count: 4, to: clock.nowMs });
    expect(trips()).toBe(3);
    expect(await reader.stats({ maxAge: 0 })).toMatchObject({ count: 4 });
    expect(await reader.stats()).toMatchObject({ count: 4 });
    expect(trips()).toBe(2);
  });

  test("answers from the copy at once, although an equal query waits for the store", async () => {
    const { reader, writer, trips } = stage();
    await writer.record(1);
    await reader.stats();
    await writer.record(2);
    trips();
    const order: [string, number][] = [];
    const asked = reader.stats().then(({ count }) => order.push(["asked", count]));
    const held = reader.stats({ maxAge: "1s" }).then(({ count }) => order.push(["held", count]));
    await Promise.all([asked, held]);
    expect([trips(), order]).toEqual([
      1,
      [
        ["held", 1],
        ["asked", 2],
      ],
    ]);
  });

  test("does not trust a monotonic clock that stood still during sleep", async () => {
    const { reader, writer, trips } = stage();
    await writer.record(1);
    await reader.stats();
    trips();
    vi.setSystemTime(Date.now() + 1000);
    await reader.stats({ maxAge: 50 });
    expect(trips()).toBe(0);
    vi.setSystemTime(Date.now() + 1);
    await reader.stats({ maxAge: 50 });
    expect(trips()).toBe(3);
  });

  test("counts from before the request", async () => {
    const { reader, writer, trips } = stage(80);
    await writer.record(1);
    await reader.stats();
    trips();
    await reader.stats({ maxAge: 80 });
    expect(trips()).toBe(0);
    await reader.stats({ maxAge: 79 });
    expect(trips()).toBe(3);
  });

  test("sends one request if the copy does not go back far enough, and if there is no series yet", async () => {
    const { reader, writer, clock, trips } = stage();
    expect((await reader.stats()).count).toBe(0);
    expect(trips()).toBe(1);
    expect((await reader.stats({ maxAge: 50 })).count).toBe(0);
    expect(trips()).toBe(0);
    for (let i = 0; i < 20; i++) {
      await writer.record(i);
      clock.nowMs += 20_000;
    }
    expect((await reader.stats({ span: "30s" })).count).toBe(1);
    trips();
    expect((await reader.stats({ span: "10s", maxAge: "1s" })).count).toBe(0);
    expect(trips()).toBe(0);
    expect((await reader.stats({ span: "10m", maxAge: "1s" })).count).toBe(20);
    expect(trips()).toBeGreaterThan(0);
    expect((await reader.stats({ span: "9m", maxAge: "1s" })).count).toBe(20);
    expect(trips()).toBe(0);
  });

  test("sends a request after a deletion; answers while the store is unreachable, when stats rejects", async () => {
    const { reader, writer, trips, fail } = stage();
    await writer.recordMany([1, 2]);
    await reader.stats();
    await reader.delete();
    trips();
    expect((await reader.stats({ maxAge: "1h" })).count).toBe(0);
    expect(trips()).toBe(1);
    fail(true);
    expect((await reader.stats({ maxAge: "1h" })).count).toBe(0);
    await expect(reader.stats()).rejects.toThrow("out of reach");
    fail(false);
  });

  test("must be a duration, and is refused by recordAndGet", async () => {
    const { reader, trips } = stage();
    for (const maxAge of [-1, Number.NaN, "soon" as never])
      await expectError(reader.stats({ maxAge }), "ARGUMENT", /maxAge/);
    await expectError(reader.recordAndGet(1, { maxAge: 5 } as never), "ARGUMENT", /maxAge/);
    expect(trips()).toBe(0);
  });

  test("returns the answer of stats at `to`, never older than allowed, under any faults", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("record" as const), own: fc.boolean(), value: fc.nat(9) }),
      fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 30, 100, 20_000) }),
      fc.record({
        kind: fc.constant("ask" as const),
        maxAge: fc.constantFrom(0, 30, 100, 60_000),
        span: fc.constantFrom(50, 30_000, 600_000),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { reader, writer, clock, trips } = stage();
        const events: { t: number; value: number }[] = [];
        let seen = 0;
        for (const one of steps) {
          if (one.kind === "wait") clock.nowMs += one.ms;
          else if (one.kind === "record") {
            await (one.own ? reader : writer).record(one.value);
            events.push({ t: clock.nowMs, value: one.value });
          } else {
            trips();
            const { span, maxAge } = one;
            const answer = await reader.stats({ span, maxAge });
            if (trips() > 0) seen = events.length;
            expect(clock.nowMs - answer.to).toBeLessThanOrEqual(maxAge);
            expectStats(answer, inside(events.slice(0, seen), answer.from, answer.to, "right"), {});
          }
        }
      }),
      { numRuns: 100 },
    );
  });
});

test("a cached series sends one request for a header, and none with maxAge", async () => {
  const server = await startRedis();
  const client = new Redis(server.url);
  const store = redisStore(server.url, { registry: false });
  const series = new Series(store, NAME);
  await series.recordMany(new Float32Array(10_000).fill(3));
  await series.stats();
  const cost = async (call: () => Promise<unknown>) => {
    const outputBytes = async () => Number(/total_net_output_bytes:(\d+)/.exec(await client.info("stats"))![1]);
    const infoBytes = -((await outputBytes()) - (await outputBytes()));
    await client.config("RESETSTAT");
    const before = await outputBytes();
    await call();
    const commands = await client.info("commandstats");
    const calls = [...commands.matchAll(/cmdstat_(\w+):calls=(\d+)/g)].map(([, name, count]) => [name, Number(count)]);
    const sentBytes = (await outputBytes()) - before - infoBytes - Buffer.byteLength(commands);
    const { info: _own, ...others } = Object.fromEntries(calls);
    return { sentBytes, others };
  };
  const asked = await cost(() => series.stats());
  // The header of the last frame, which is long, is read by a command of its own.
  expect(asked.others).toEqual({ evalsha: 1, time: 1, getrange: 3, strlen: 1 });
  expect(asked.sentBytes).toBeLessThan(200);
  const held = await cost(() => series.stats({ maxAge: "10s" }));
  expect(held.others).toEqual({});
  await store.close();
  client.disconnect();
  await server.stop();
});
