import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LockedWindow, OrielError, redisStore, Series } from "../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { Random } from "../simulator/world/random.ts";

/** How many damaged states are asked in every way; more by the environment. */
const CASES = Number(process.env.ORIEL_GARBAGE ?? 150);
const SEED = Number(process.env.ORIEL_SEED ?? 1);
const LONGEST_MS = 20_000;

let server: RedisServer;
let client: Redis;
const rejections: unknown[] = [];
const onRejection = (reason: unknown) => void rejections.push(reason);

beforeAll(async () => {
  server = await startRedis();
  client = new Redis(server.url);
  process.on("unhandledRejection", onRejection);
});
afterAll(async () => {
  process.off("unhandledRejection", onRejection);
  client.disconnect();
  await server.stop();
});

const junk = (random: Random, most: number) =>
  Buffer.from(Array.from({ length: random.int(1, most) }, () => random.u32() & 255));

const DOUBLES = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, -1e300, 2 ** 53, -1, 0, 5e-324];
const WORDS = [0xffffffff, 0x7fffffff, 0x80000000, 0, 1];

/** The bytes, damaged in one to four places; now and then of a later format, or nothing of ours at all. */
function damaged(random: Random, whole: Buffer): Buffer {
  let bytes = Buffer.from(whole);
  for (let i = random.int(1, 4); i > 0; i--) {
    const at = random.int(0, bytes.length - 1);
    const near = random.int(0, Math.min(bytes.length, 140) - 1);
    const kind = random.int(0, 9);
    if (kind === 0) bytes[at] = random.u32() & 255;
    else if (kind === 1) bytes[near] = random.pick([0, 1, 0xff, 0x7f, 0x80, 0x10, 0x11, 0x12, 0x13]);
    else if (kind === 2) bytes = bytes.subarray(0, at + 1);
    else if (kind === 3) bytes = Buffer.concat([bytes, junk(random, 60)]);
    else if (kind === 4 && bytes.length > 8) bytes.writeDoubleLE(random.pick(DOUBLES), random.int(0, bytes.length - 8));
    else if (kind === 5 && bytes.length > 64)
      bytes.writeDoubleLE(random.pick(DOUBLES), random.pick([8, 16, 32, 40, 48, 56]));
    else if (kind === 6 && bytes.length > 4) bytes.writeUInt32LE(random.pick(WORDS), Math.min(near, bytes.length - 4));
    else if (kind === 7)
      bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + 40), bytes.subarray(at)]);
    else if (kind === 8 && random.chance(0.3)) bytes[0] = random.pick([2, 3, 130]);
    else if (kind === 9 && random.chance(0.2)) bytes = junk(random, 200);
  }
  return bytes;
}

/** Puts what no structure of ours keeps there under the key: of another type, or other bytes. */
async function spoil(random: Random, key: string, whole: Buffer): Promise<string> {
  const kind = random.int(0, 11);
  await client.del(key);
  if (kind === 0) await client.lpush(key, "x");
  else if (kind === 1)
    await client.hset(key, "timestamps", junk(random, 30), "values", junk(random, 30), "mark", "1:1");
  else if (kind === 2) await client.zadd(key, 1, "x");
  else await client.set(key, damaged(random, whole), "PX", 3_600_000);
  return kind > 2 ? "bytes" : "type";
}

/** Codes that damage may give: MISMATCH where it changed the type of the values or the clock, STALE where the last stamp or a mark is higher. */
const KNOWN = new Set(["CORRUPT", "MISMATCH", "TOO_LARGE", "LATE", "EARLY", "STALE"]);
const KNOWN_OF_WINDOWS = new Set(["CORRUPT", "TOO_LARGE", "STALE"]);

async function outcome(call: () => Promise<unknown>, known = KNOWN): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, LONGEST_MS, "hangs");
  });
  const reported = call().then(
    () => "ok",
    (error: unknown) => {
      if (!(error instanceof OrielError)) return `raw ${(error as Error).stack}`;
      if (!known.has(error.code))
        return `${error.code} ${error.message} ${(error.cause as Error)?.stack ?? error.stack}`;
      if (error.code !== "CORRUPT") return "ok";
      const isNamed = error.structure !== undefined && error.structureName === "j" && /\{j\}/.test(error.message);
      return isNamed ? "CORRUPT" : `nameless ${error.stack}`;
    },
  );
  const first = await Promise.race([reported, late]);
  clearTimeout(timer);
  return first;
}

function expectReported(reported: Map<string, number>, bad: string[]) {
  expect(bad.slice(0, 3).join("\n\n"), `seed ${SEED}`).toBe("");
  expect(rejections).toEqual([]);
  expect(reported.get("CORRUPT")).toBeGreaterThan(CASES / 10);
}

test(`with any bytes under a key of a series, each call answers or is CORRUPT (${CASES} cases, seed ${SEED})`, {
  timeout: 300_000 + 100 * CASES,
}, async () => {
  const random = new Random(SEED);
  const store = redisStore(client, { deadline: 5000 });
  const open = (options = {}) => new Series(store, "j", { retention: "1h", ...options });
  const series = open();
  await series.recordMany(Array.from({ length: 300 }, (_, i) => i));
  const nowMs = Date.now();
  await series.recordMany([1, 2, 3], { at: [nowMs - 5000, nowMs - 3000, nowMs] });
  const key = store.keyOf("j");
  const whole = await client.getBuffer(key);
  const number = whole!.readDoubleLE(8);
  // A closed chunk before the open one: the same frames, under births that link.
  const closed = Buffer.from(whole!);
  const opened = Buffer.from(whole!);
  opened.writeUInt32LE(closed.readUInt32LE(24), 28);
  opened.writeUInt32LE(77, 24);
  opened.writeDoubleLE(number + 1, 8);
  const keys = new Map([
    [key, opened],
    [`${key}:${number}`, closed],
  ]);
  const calls: Record<string, () => Promise<unknown>> = {
    outlines: () => open().stats({ span: "1m", percentiles: [50, 99] }),
    copy: () => Series.stats([open()], { span: "1m", percentiles: [50, 99] }),
    resident: async () => {
      const held = open();
      await held.stats({ span: "1m" });
      await held.record(1);
      return held.stats({ span: "1h", percentiles: [1] });
    },
    record: () => open().record(1),
    recordAndGet: () => open().recordAndGet(1, { span: "1m" }),
    recordAt: () => open().record(1, { at: Date.now() }),
    values: () => open().values({ span: "1m" }),
    delete: () => open().delete(),
  };
  const reported = new Map<string, number>();
  const bad: string[] = [];
  for (let i = 0; i < CASES; i++) {
    const which = random.pick([...keys.keys()]);
    let how = "";
    for (const [name, call] of Object.entries(calls)) {
      if (name === "copy" || random.chance(0.3)) {
        for (const [each, bytes] of keys) if (each !== which) await client.set(each, bytes, "PX", 3_600_000);
        how = await spoil(random, which, keys.get(which)!);
      }
      const result = await outcome(call);
      reported.set(result, (reported.get(result) ?? 0) + 1);
      if (result !== "ok" && result !== "CORRUPT") bad.push(`case ${i}, ${name}, ${how} of ${which}: ${result}`);
    }
    if (bad.length > 2) break;
  }
  expectReported(reported, bad);
  await store.close();
});

test(`with any bytes under the key of a locked window, it answers or is CORRUPT (seed ${SEED})`, {
  timeout: 300_000 + 100 * CASES,
}, async () => {
  const random = new Random(SEED);
  const store = redisStore(client, { deadline: 5000 });
  const key = "sw_counter_bytes:{j}";
  const reported = new Map<string, number>();
  const bad: string[] = [];
  const numbers = ["nan", "inf", "-1", "1e400", "99999999999999999999", "", "x", "1:x", "9007199254740993:1"];
  for (let i = 0; i < CASES; i++) {
    await client.del(key);
    const open = () => new LockedWindow(store, "j", { span: "1m" });
    await open().addAndGetStats(1);
    await open().addAndGetStats(2);
    const kind = random.int(0, 9);
    if (kind === 0) {
      await client.del(key);
      await client.set(key, junk(random, 100));
    } else if (kind === 1) {
      await client.del(key);
      await client.rpush(key, "x");
    } else
      for (const [field, value] of Object.entries(await client.hgetallBuffer(key)))
        if (random.chance(0.6))
          await client.hset(
            key,
            field,
            field === "mark" && random.chance(0.7) ? random.pick(numbers) : damaged(random, value),
          );
    for (const call of [() => open().stats(), () => open().addAndGetStats(3)]) {
      const result = await outcome(call, KNOWN_OF_WINDOWS);
      reported.set(result, (reported.get(result) ?? 0) + 1);
      if (result !== "ok" && result !== "CORRUPT") bad.push(`case ${i}, kind ${kind}: ${result}`);
    }
    if (bad.length > 2) break;
  }
  expectReported(reported, bad);
  await store.close();
});
