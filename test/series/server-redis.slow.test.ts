import { Cluster, Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { redisStore, Series } from "../../src/entries/index.ts";
import { closedKey, rotate } from "../../src/journal/steps/rotate.ts";
import type { StepOfArguments, Store } from "../../src/store/contract.ts";
import type { IoredisClient } from "../../src/store/redis/ioredis-client.ts";
import { slotOf } from "../../src/store/slot.ts";
import { type FaultProxy, startProxy } from "../harness/network/proxy.ts";
import { type RedisCluster, startCluster } from "../harness/servers/redis-cluster.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { expectAlike } from "../stats/oracle.ts";
import { expectError } from "./contract/stage.ts";

const SERVER = { where: "server" } as const;
const NAME = "inside";
const KEY = `oriel:{${NAME}}`;

describe("on a server", () => {
  let server: RedisServer;
  let client: Redis;
  let store: Store;
  let series: Series;
  beforeAll(async () => {
    server = await startRedis({ tcp: true });
    client = new Redis(server.url);
  });
  beforeEach(async () => {
    await client.flushall();
    store = redisStore(client as unknown as IoredisClient, { registry: false });
    series = new Series(store, NAME);
  });
  afterEach(() => store.close());
  afterAll(async () => {
    client?.disconnect();
    await server?.stop();
  });

  test("a reply has a few hundred bytes for any number of events", async () => {
    await series.recordMany(Float32Array.from({ length: 9000 }, (_, i) => i));
    const sizes: number[] = [];
    const run: Store["run"] = (operation, key, input, options) => {
      const decode = (reply: Uint8Array) => {
        sizes.push(reply.length);
        return (operation as StepOfArguments<unknown, never>).decode(reply);
      };
      return store.run({ ...operation, decode }, key, input, options);
    };
    const measured = new Series({ ...store, run }, NAME);
    expect(await measured.stats(SERVER)).toMatchObject({ count: 9000, percentiles: { 50: 4499.5 } });
    expect(sizes).toEqual([24 + 64 + 64 + 3 * 5 * 8]);
  });

  test("nothing is written: every key and expiry stays the same", async () => {
    await series.recordMany([1, 2, 3]);
    const state = async () => [await client.keys("*"), await client.dumpBuffer(KEY), await client.pexpiretime(KEY)];
    const before = await state();
    for (const options of [{}, { span: 1 }, { at: 0 }]) await series.stats({ ...options, ...SERVER });
    expect(await state()).toEqual(before);
  });

  test.each([
    ["no frame", Buffer.alloc(20), /chunk \d+ has foreign bytes at byte 84/],
    ["a frame of no events", Buffer.concat([Buffer.of(0x10), Buffer.alloc(19)]), /has foreign bytes at byte 84/],
    ["half a header", Buffer.of(0x10, 0, 1), /ends within a frame at byte 84/],
    ["half a frame", Buffer.concat([Buffer.of(0x10, 0, 2), Buffer.alloc(17)]), /ends within a frame at byte 84/],
  ])("a chunk that ends in %s is CORRUPT", async (_name, bytes, text) => {
    await series.record(1);
    await client.append(KEY, bytes);
    await expectError(series.stats(SERVER), "CORRUPT", text);
  });

  /** Closes the open chunk; answers the key under which it then is. */
  async function close(): Promise<string> {
    const bytes = (await client.getBuffer(KEY))!;
    const number = bytes.readDoubleLE(8);
    await store.run(rotate, KEY, { number, birth: bytes.readUInt32LE(24), nextBirth: 1 + (number % 1000) });
    return closedKey(KEY, number);
  }

  test.each([
    ["of another birth", 24, "CORRUPT", /do not fit together/],
    ["of another format", 0, "CORRUPT", /not a journal of format 1/],
  ] as const)("a closed chunk %s ends the call", async (_name, place, code, text) => {
    await series.record(1);
    const closed = await close();
    expect((await series.stats(SERVER)).count).toBe(1);
    await client.setrange(closed, place, Buffer.of(9, 3, 5, 7));
    expect(await expectError(series.stats(SERVER), code, text)).toMatchObject({ transient: false });
  });

  test("many chunks need other keys, which is learned once; more than 127 are too many", async () => {
    const calls: string[] = [];
    const run: Store["run"] = (operation, key, input, options) => {
      calls.push(operation.name);
      return store.run(operation, key, input, options);
    };
    const asking = new Series({ ...store, run }, NAME);
    for (let i = 1; i <= 130; i++) {
      await series.record(i);
      if (i === 10 || i === 128) {
        expect((await asking.stats(SERVER)).count).toBe(i);
        expect((await asking.stats({ ...SERVER, span: "2m" })).count).toBe(i);
        calls.push(`${i}`);
      }
      await close();
    }
    const [near, far] = ["summary/server-stats", "summary/server-stats-far"];
    expect(calls).toEqual([near, near, far, near, far, "10", far, far, far, "128"]);
    // More than the 127 closed chunks that the step can name.
    expect((await asking.stats(SERVER)).count).toBe(130);
    expect(calls.at(-1)).toBe("journal/read-outlines");
  });

  test("values that rise, fall, alternate, or rise and fall", async () => {
    const shapes = [(i: number) => i, (i: number) => -i, (i: number) => i % 2, (i: number) => Math.abs(5000 - i)];
    for (const shape of shapes) {
      await series.delete();
      await series.recordMany(Float64Array.from({ length: 10_000 }, (_, i) => shape(i)));
      const answer = await series.stats({ span: "30m", ...SERVER });
      expectAlike(answer, await series.stats({ span: "30m", at: answer.to }));
    }
  });

  describe("through a proxy", () => {
    let proxy: FaultProxy;
    beforeAll(async () => {
      proxy = await startProxy(server.port);
    });
    afterAll(() => proxy?.close());

    test("an event sent again after a lost reply counts once, and a lost answer is requested again", async () => {
      const faulty = redisStore(proxy.url, { deadline: 5000 });
      const writer = new Series(faulty, NAME);
      await writer.record(1);
      proxy.dropReplies(1);
      await writer.record(2);
      expect(await client.strlen(KEY)).toBe(64 + 3 * 20);
      proxy.dropReplies(1);
      expect(await writer.stats(SERVER)).toMatchObject({ count: 2, sum: 3, degraded: false });
      await faulty.close();
    });
  });
});

describe("on a cluster", () => {
  let cluster: RedisCluster;
  let client: Cluster;
  beforeAll(async () => {
    cluster = await startCluster(2);
    client = new Cluster([cluster.url]);
  });
  afterAll(async () => {
    client?.disconnect();
    await cluster?.stop();
  });

  test("during a slot migration an answer is complete or an error, and complete afterwards", async () => {
    const store = redisStore(client as unknown as IoredisClient, { deadline: 3000, registry: false });
    const writer = new Series(store, NAME, { retention: "64s" });
    while ((await client.keys(`${KEY}:*`)).length === 0) {
      await writer.record(1);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const asked = { ...SERVER, span: "10s" } as const;
    const whole = await writer.stats(asked);
    expect(whole).toMatchObject({ degraded: false });
    expectAlike(whole, await writer.stats({ span: "10s", at: whole.to }));

    const slot = slotOf(KEY);
    const owner = await cluster.ownerOf(KEY);
    const nodes = [owner, 1 - owner].map((index) => {
      const { port } = cluster.nodes[index]!;
      return client.nodes("master").find((node) => node.options.port === port)!;
    });
    const ids = await Promise.all(nodes.map(async (node) => String(await node.call("CLUSTER", "MYID"))));
    await nodes[1]!.call("CLUSTER", "SETSLOT", String(slot), "IMPORTING", ids[0]!);
    await nodes[0]!.call("CLUSTER", "SETSLOT", String(slot), "MIGRATING", ids[1]!);
    const port = String(cluster.nodes[1 - owner]!.port);
    const ask = async () => {
      const answer = await writer.stats({ ...asked, at: whole.to }).catch((error: unknown) => error);
      if (answer instanceof Error) expect(answer).toMatchObject({ name: "OrielError", transient: true });
      else expect(answer).toMatchObject({ count: whole.count, degraded: false });
    };
    await ask();
    for (const key of (await nodes[0]!.keys(`${KEY}*`)).sort().reverse()) {
      await nodes[0]!.call("MIGRATE", "127.0.0.1", port, key, "0", "5000");
      await ask();
    }
    for (const node of [nodes[1]!, nodes[0]!]) await node.call("CLUSTER", "SETSLOT", String(slot), "NODE", ids[1]!);
    expect(await writer.stats({ ...asked, at: whole.to })).toEqual(whole);
    await store.close();
  });
});
