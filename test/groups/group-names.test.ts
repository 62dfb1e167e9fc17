import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { groupsKey } from "../../src/engine/groups/dictionary.ts";
import { GroupNames, type GroupNamesSettings } from "../../src/engine/groups/group-names.ts";
import { appendInGroups, REGROUPED } from "../../src/engine/groups/steps/append-in-groups.ts";
import { STATUS } from "../../src/engine/journal/format/answer.ts";
import { encodeFrame } from "../../src/engine/journal/format/frames.ts";
import { memoryStore } from "../../src/entries/memory-store.ts";
import type { Store } from "../../src/store/contract.ts";
import type { IoredisClient } from "../../src/store/redis/ioredis-client.ts";
import { redisStore } from "../../src/store/redis/redis.ts";
import { onHttp, onMemory, onRedis } from "../harness/clock/stepped-stores.ts";
import { countingStore } from "../harness/counting-store.ts";
import { repeatableStore } from "../harness/repeatable-store.ts";
import { startRedis } from "../harness/servers/redis-server.ts";
import { groupsIn } from "./dictionaries.ts";

let drawn = 0;
let full = 0;

function namesOf(store: Store, name: string, settings: Partial<GroupNamesSettings> = {}): GroupNames {
  return new GroupNames(store, store.keyOf(name), {
    labels: ["route", "method"],
    maxGroups: 10_000,
    retentionMs: 60_000,
    entropy: () => ++drawn,
    onFull: () => full++,
    ...settings,
  });
}

describe.each([
  ["memory", onMemory],
  ["Redis", () => onRedis()],
  ["a cluster", () => onRedis(true)],
  ["HTTP", onHttp],
] as const)("over %s", (_where, open) => {
  test("numbers are those of the first appearance, for each process", async () => {
    const { store, clock, expiries, close } = await open();
    const [one, other] = [namesOf(store, "s"), namesOf(store, "s")];
    expect(one.numberOf(["/", "GET"])).toBeUndefined();
    expect(await one.refresh()).toBe(false);
    expect(one.known.length).toBe(0);
    await one.add([
      ["/", "GET"],
      ["/", "PUT"],
      ["/", "GET"],
    ]);
    await other.add([
      ["/b", "GET"],
      ["/", "PUT"],
    ]);
    await one.refresh();
    for (const names of [one, other]) {
      expect(names.groups.count).toBe(3);
      expect([1, 2, 3, 4, 0].map((number) => names.groups.values[number - 1])).toEqual([
        ["/", "GET"],
        ["/", "PUT"],
        ["/b", "GET"],
        undefined,
        undefined,
      ]);
      expect(names.numberOf(["/b", "GET"])).toBe(3);
      expect(names.numberOf(["/b", "PUT"])).toBeUndefined();
    }
    expect(one.known).toEqual(other.known);
    const frames = [encodeFrame(1, 1, Float64Array.of(2))];
    const { status, header } = await store.run(appendInGroups, store.keyOf("s"), {
      ...{ valueType: 5, clock: 0, retentionMs: 60_000, voidAfterMs: clock.nowMs + 10_000, birth: 1 },
      ...{ frames, known: "none", guard: one.known },
    });
    expect(status).toBe(STATUS.done);
    expect(header!.number).toBeGreaterThanOrEqual(one.known.firstChunk);
    const ends = await expiries();
    expect(ends.get(groupsKey(store.keyOf("s")))).toBe(ends.get(store.keyOf("s"))! + 60_000);
    await close();
  });
});

describe("on one Redis", () => {
  let server: Awaited<ReturnType<typeof startRedis>>;
  let redis: Redis;
  let store: Store;
  beforeAll(async () => {
    server = await startRedis();
    redis = new Redis(server.url);
    store = redisStore(redis as unknown as IoredisClient);
  });
  afterAll(async () => {
    await store.close();
    redis.disconnect();
    await server.stop();
  });
  const bytesOf = (name: string) => redis.getBuffer(groupsKey(store.keyOf(name)));

  test("processes that add at once end with the same numbers, and no group has two", async () => {
    const clients = Array.from({ length: 6 }, () => new Redis(server.url));
    const stores = clients.map((client) => redisStore(client as unknown as IoredisClient));
    const all = stores.map((each) => namesOf(each, "race", { labels: ["id"] }));
    await Promise.all(
      all.map(async (names, i) => {
        // Each begins elsewhere and goes on in steps of another length, so that groups are new to several at once.
        for (let round = 0; round < 60; round++) {
          const ids = Array.from({ length: 5 }, (_, j) => [`${(i * 17 + (round * 5 + j) * (i + 1)) % 211}`]);
          await Promise.all([names.add(ids.slice(0, 2)), names.add(ids.slice(1))]);
          for (const id of ids) expect(names.groups.values[names.numberOf(id)! - 1]).toEqual(id);
        }
      }),
    );
    await Promise.all(all.map((names) => names.refresh()));
    const groups = groupsIn((await bytesOf("race"))!);
    expect(new Set(groups.flat()).size).toBe(groups.length);
    expect(groups.length).toBe(211);
    for (const names of all) {
      expect(names.generation).toBe(0);
      for (const [i, group] of groups.entries()) expect(names.numberOf(group)).toBe(i + 1);
    }
    await Promise.all(stores.map((each) => each.close()));
    for (const client of clients) client.disconnect();
  });

  test("calls made at once are one request, and those made meanwhile the next", async () => {
    const counted = countingStore(store);
    const names = namesOf(counted.store, "shared");
    await names.add([["/", "GET"]]);
    const before = counted.names.length;
    const adds = Array.from({ length: 50 }, (_, i) => names.add([[`/${i % 20}`, "GET"]]));
    await Promise.all([...adds, names.refresh()]);
    expect(counted.names.length).toBe(before + 1);
    await Promise.all(adds);
    await names.add([["/3", "GET"]]);
    expect(counted.names.length).toBe(before + 1);
    expect(names.groups.count).toBe(21);
  });

  test("late copies of all requests change nothing, also after a loss", async () => {
    const opened = await onRedis();
    const { store: repeated, repeatAll } = repeatableStore(opened.store);
    const names = namesOf(repeated, "late");
    const key = groupsKey(repeated.keyOf("late"));
    const client = opened.client as Redis;
    await names.add([["/", "GET"]]);
    await names.add([["/", "PUT"]]);
    const before = await client.getBuffer(key);
    await repeatAll();
    expect(await client.getBuffer(key)).toEqual(before);
    opened.clock.nowMs++;
    await client.del(key);
    await repeatAll();
    expect(groupsIn((await client.getBuffer(key))!)).toEqual([]);
    expect(await names.refresh()).toBe(true);
    expect(names.numberOf(["/", "PUT"])).toBeUndefined();
    await names.add([["/", "PUT"]]);
    expect(names.numberOf(["/", "PUT"])).toBe(1);
    await opened.close();
  });

  test("without a dictionary, or with an older one, an append changes nothing", async () => {
    const key = store.keyOf("older");
    const names = namesOf(store, "older");
    await names.add([["/", "GET"]]);
    const older = (await bytesOf("older"))!;
    await names.add([["/", "PUT"]]);
    const append = async () => {
      const [seconds, us] = await redis.time();
      const frames = [encodeFrame(1, ++drawn, Float64Array.of(names.numberOf(["/", "PUT"])!))];
      return store.run(appendInGroups, key, {
        ...{ valueType: 5, clock: 0, retentionMs: 60_000, birth: 1, frames, known: undefined, guard: names.known },
        voidAfterMs: Number(seconds) * 1000 + Math.floor(Number(us) / 1000) + 10_000,
      });
    };
    expect((await append()).status).toBe(STATUS.done);
    const chunk = await redis.getBuffer(key);
    await redis.set(groupsKey(key), older);
    expect(await append()).toMatchObject({ status: REGROUPED, length: chunk!.length });
    await redis.del(groupsKey(key));
    expect((await append()).status).toBe(REGROUPED);
    expect(await redis.getBuffer(key)).toEqual(chunk);
    expect(await names.refresh()).toBe(true);
    expect(names.known.length).toBe(0);
    await names.add([["/", "PUT"]]);
    // The open chunk has numbers of the lost dictionary.
    const refused = await append();
    expect(refused.status).toBe(STATUS.old);
    expect(names.known.firstChunk).toBe(refused.header!.number + 1);
    expect(await redis.getBuffer(key)).toEqual(chunk);
  });

  test("beyond the bound groups have the number 0, which is reported once", async () => {
    const one = namesOf(store, "full", { maxGroups: 2 });
    const other = namesOf(store, "full", { maxGroups: 2 });
    const groups = [1, 2, 3, 4].map((i) => [`/${i}`, "GET"]);
    await Promise.all([one.add(groups.slice(0, 2)), other.add(groups.slice(2))]);
    await Promise.all([one.add(groups), other.add(groups)]);
    full = 0;
    const numbers = [one, other].map((names) => groups.map((group) => names.numberOf(group)));
    expect(numbers[0]).toEqual(numbers[1]);
    expect([...numbers[0]!].sort()).toEqual([0, 0, 1, 2]);
    expect(full).toBe(2);
    for (const group of groups) one.numberOf(group);
    expect(full).toBe(2);
    expect(groupsIn((await bytesOf("full"))!).length).toBe(2);
  });

  test("a dictionary of several pages is read whole, wherever a page ends", async () => {
    const writer = namesOf(store, "pages", { labels: ["é"], maxGroups: 1e6 });
    const groups = Array.from({ length: 9000 }, (_, i) => [`${i}${"é".repeat(i % 122)}`]);
    await writer.add(groups);
    const counted = countingStore(store);
    const reader = namesOf(counted.store, "pages", { labels: ["é"] });
    await reader.refresh();
    expect(reader.known).toEqual(writer.known);
    expect(reader.known.length).toBeGreaterThan(1 << 20);
    expect(counted.names.length).toBe(Math.ceil(reader.known.length / (1 << 20)));
    for (const names of [writer, reader])
      expect(groups.every((group, i) => names.numberOf(group) === i + 1)).toBe(true);
  });

  test("each text is a label value, but texts without bytes of their own are one", async () => {
    const names = namesOf(store, "texts", { labels: ["text"] });
    const texts = ["", "\ufeff", "\ufeffa", "a", "\0", "\ud800", "\udc00", "\ufffd", "😀", "x".repeat(255)];
    await names.add(texts.map((text) => [text]));
    expect(names.groups.count).toBe(texts.length - 2);
    for (const text of texts)
      if (!/[\ud800-\udfff]$/.test(text)) expect(names.groups.values[names.numberOf([text])! - 1]).toEqual([text]);
    const before = names.groups.count;
    await names.add([["\ud800"]]);
    expect(names.groups.count).toBe(before);
    await expect(names.add([["é".repeat(128)]])).rejects.toMatchObject({ code: "ARGUMENT" });
  });

  test("other label names are a mismatch, and bytes that no step wrote are an error", async () => {
    await namesOf(store, "other").add([["/", "GET"]]);
    const names = namesOf(store, "other", { labels: ["method", "route"] });
    for (const call of [() => names.refresh(), () => names.add([["GET", "/"]])])
      await expect(call()).rejects.toMatchObject({
        code: "MISMATCH",
        message:
          "the groups are stored with the labels route, method; they were opened with method, route: the order counts",
      });
    const sound = (await bytesOf("other"))!;
    for (let length = 1; length < sound.length; length++) {
      await redis.set(groupsKey(store.keyOf("cut")), sound.subarray(0, length));
      const cut = namesOf(store, "cut");
      const outcome = await cut.refresh().catch((error) => error.code);
      const isEnd = cut.known.length === length;
      expect(isEnd ? false : "CORRUPT", `${length}`).toBe(outcome);
    }
    await redis.set(groupsKey(store.keyOf("cut")), Buffer.concat([sound, Buffer.of(1, 0xff, 0, 0, 0, 0, 0)]));
    const damaged = namesOf(store, "cut");
    await expect(damaged.refresh()).rejects.toMatchObject({ code: "CORRUPT" });
    expect(damaged.numberOf(["/", "GET"])).toBe(1);
  });
});

test("a failed request rejects the calls that share it, and the next call works", async () => {
  const store = memoryStore();
  let fails = true;
  const names = namesOf(
    {
      ...store,
      run: (...call) => (fails ? Promise.reject(new Error("lost")) : store.run(...call)),
    },
    "s",
  );
  const failed = await Promise.allSettled([names.add([["/", "GET"]]), names.refresh()]);
  expect(failed.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  await names.add([["/", "GET"]]);
  expect(names.numberOf(["/", "GET"])).toBe(1);
  await store.close();
});
