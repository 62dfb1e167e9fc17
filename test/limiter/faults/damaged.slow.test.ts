import type { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  calendarWindow,
  concurrency,
  fixedWindow,
  gcra,
  Limiter,
  leakyBucket,
  memoryStore,
  slidingWindow,
} from "../../../src/entries/index.ts";
import { type OpenStore, onRedis } from "../../harness/clock/stepped-stores.ts";
import { Random } from "../../simulator/world/random.ts";
import { formOf, readLog, ringOf, ringOfLog } from "../sliding-state.ts";

const { ORIEL_LIMITER_DAMAGES = "40", ORIEL_SEED } = process.env;
const seed = Number(ORIEL_SEED ?? Date.now() % 1_000_000);

const POLICIES = {
  "fixed-window": fixedWindow({ limit: 3, span: "1h" }),
  "sliding-window": slidingWindow({ limit: 3, span: "1h" }),
  "leaky-bucket": leakyBucket({ capacity: 3, span: "1h" }),
  gcra: gcra({ limit: 3, span: "1h" }),
  concurrency: concurrency({ limit: 3, lease: "1h" }),
  "calendar-window": calendarWindow({ limit: 3, every: "day" }),
};
type Kind = keyof typeof POLICIES;

/** Numbers that no step writes, little-endian. */
const ODD = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, -1e300, 0.5, 1e300].map((number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(number);
  return bytes;
});
const randomBytes = (random: Random, length: number) => Buffer.from(Array.from({ length }, () => random.int(0, 255)));

/** Values that no step has written, made of one that a step did. */
const DAMAGES: Record<string, (value: Buffer, random: Random) => Buffer> = {
  "random bytes": (_value, random) => randomBytes(random, random.int(1, 200)),
  "random bytes behind the head": (value, random) =>
    Buffer.concat([value.subarray(0, 8), randomBytes(random, value.length - 8)]),
  // Permits whose leases are cut off whole count as lent: a test of its own.
  "cut short": (value, random) => {
    const length = random.int(1, Math.min(80, value.length) - 1);
    return value.subarray(0, value[1] === 4 && length === 64 ? 63 : length);
  },
  // Behind the header of a ring there is room that nobody reads yet.
  longer: (value, random) =>
    value.readUInt16LE(0) === 0x0201 ? value : Buffer.concat([value, randomBytes(random, random.int(1, 31))]),
  "a later format": (value) => Buffer.concat([Buffer.from([value[0]! + 1]), value.subarray(1)]),
  "an odd number in the head": (value, random) => {
    const copy = Buffer.from(value);
    random.pick(ODD).copy(copy, random.pick([8, 16]));
    return copy;
  },
  "an odd first number": (value, random) => {
    const copy = Buffer.from(value);
    random.pick(ODD).copy(copy, 24);
    return copy;
  },
};

let opened: OpenStore;
let raw: Redis;
beforeAll(async () => {
  opened = await onRedis();
  raw = opened.client as Redis;
});
beforeEach(() => opened.clear());
afterAll(() => opened?.close());

const keyOf = (kind: Kind) => `oriel:{api:id}:limit:${kind}`;
const permit = "0".repeat(32);
const VERBS: Record<string, (limiter: Limiter) => Promise<unknown>> = {
  take: (limiter) => limiter.take("id"),
  "take with atLeast": (limiter) => limiter.take("id", { cost: 2, atLeast: 1 }),
  "take with a requestId": (limiter) => limiter.take("id", { requestId: "new" }),
  "take of nothing": (limiter) => limiter.take("id", { cost: 0 }),
  peek: (limiter) => limiter.peek("id"),
  penalty: (limiter) => limiter.penalty("id"),
  reward: (limiter) => limiter.reward("id"),
  block: (limiter) => limiter.block("id", "1m"),
  reserve: (limiter) => limiter.reserve("id", { cost: 1, lease: "1m" }),
  release: (limiter) => limiter.release("id", permit),
};

/** Every call rejects and names the key, and no byte changes. Another id continues, and a reset repairs it. */
async function isRefused(limiter: Limiter, key: string, what: unknown): Promise<void> {
  const dump = await raw.dumpBuffer(key);
  for (const [verb, call] of Object.entries(VERBS)) {
    const [outcome, other] = await Promise.all([
      call(limiter).then(
        (answer) => ({ code: "answered", message: JSON.stringify(answer), applied: "no" }),
        ({ code, message, applied }) => ({ code, message, applied }),
      ),
      limiter.take("other", { cost: 0 }),
    ]);
    const expected = { code: "CORRUPT", applied: "no", message: expect.stringContaining(key) };
    expect({ what, verb, ...outcome }).toEqual({ what, verb, ...expected });
    expect(other).toMatchObject({ allowed: true, degraded: false });
    expect(await raw.dumpBuffer(key)).toEqual(dump);
  }
  await limiter.reset("id");
  expect(await limiter.take("id")).toMatchObject({ allowed: true, degraded: false });
}

describe.each(Object.keys(POLICIES) as Kind[])("a damaged state of %s", (kind) => {
  const limiterOf = (onStoreError: "throw" | "allow") =>
    new Limiter(opened.store, [POLICIES[kind]], { name: "api", onStoreError });

  test(`is CORRUPT and never a pass, with any bytes (seed ${seed})`, async () => {
    const random = new Random(seed);
    for (let i = 0; i < Number(ORIEL_LIMITER_DAMAGES); i++) {
      const limiter = limiterOf(random.pick(["throw", "allow"]));
      await opened.clear();
      for (let taken = random.int(1, 3); taken > 0; taken--) {
        await limiter.take("id");
        opened.clock.nowMs += random.int(0, 2);
      }
      const written = (await raw.getBuffer(keyOf(kind)))!;
      const isRing = kind === "sliding-window" && random.int(0, 1) === 1;
      const value = isRing ? ringOfLog(written) : written;
      const how = random.pick(Object.keys(DAMAGES));
      const damage = DAMAGES[how]!(value, random);
      if (damage.equals(value)) continue;
      await raw.set(keyOf(kind), damage);
      await isRefused(limiter, keyOf(kind), [i, how, damage.toString("hex")]);
    }
  });

  test("is CORRUPT if the key has another type or kind", async () => {
    const other = Object.keys(POLICIES).find((each) => each !== kind && !each.includes("gcra")) as Kind;
    const elsewhere = new Limiter(opened.store, [{ ...POLICIES[other], name: kind }], { name: "api" });
    await elsewhere.take("id");
    await isRefused(limiterOf("allow"), keyOf(kind), "another kind");
    await opened.clear();
    await raw.rpush(keyOf(kind), "a", "list");
    await isRefused(limiterOf("allow"), keyOf(kind), "a list");
  });

  test("reservations of format 1 are read, and the next write makes format 2 of them", async () => {
    const limiter = limiterOf("allow");
    const reserved = await limiter.reserve("id", { cost: 1, lease: "1m" });
    const holds = "oriel:{api:id}:limit!holds";
    const value = (await raw.getBuffer(holds))!;
    const old = Buffer.alloc(64);
    value.copy(old, 0, 4, 28); // its token and its end
    old.writeDoubleLE(2, 24);
    value.copy(old, 32, 4, 28);
    old.write("settled", 32);
    old.writeDoubleLE(-1, 56);
    await raw.set(holds, old);
    expect(await limiter.peek("id", { cost: 0 })).toMatchObject({ remaining: 1 });
    await limiter.reserve("id", { cost: 0, lease: "1m" });
    expect([...(await raw.getBuffer(holds))!.subarray(0, 4)]).toEqual([2, 0, 0, 0]);
    expect(await reserved.settle(2)).toBeTruthy();
    expect(await reserved.settle(2)).toBe(false);
  });

  test("is CORRUPT in a reservation or request for the calls that need it, until a reset", async () => {
    const limiter = limiterOf("allow");
    await limiter.reserve("id", { cost: 1, lease: "1m" });
    const holds = "oriel:{api:id}:limit!holds";
    const value = (await raw.getBuffer(holds))!;
    const ended = Buffer.from(value);
    ended.writeDoubleLE(Number.NaN, 20);
    const refused = { code: "CORRUPT", applied: "no", message: expect.stringContaining(holds) };
    for (const damage of ["no reservations", "x", value.subarray(0, -1), ended]) {
      await raw.set(holds, damage);
      await expect(limiter.take("id")).rejects.toMatchObject(refused);
      await expect(limiter.reserve("id", { cost: 1, lease: "1m" })).rejects.toMatchObject(refused);
    }
    await limiter.reset("id");
    for (const key of ["oriel:{api:id}:limit!request:r", "oriel:{api:id}:limit!requests"])
      for (const damage of ["x", "x".repeat(24), "x".repeat(200)]) {
        await raw.flushall();
        await limiter.take("id", { requestId: "r" });
        await raw.set(key, damage);
        // A request of another present is decided anew, which takes a second permit: never a pass that is not counted.
        const again = await limiter.take("id", { requestId: "r" }).catch((error) => error);
        if (again.code === undefined) expect(await limiter.peek("id")).toMatchObject({ remaining: 1 });
        else expect(again).toMatchObject({ code: "CORRUPT", message: expect.stringContaining(key) });
        await limiter.reset("id");
        expect(await limiter.take("id", { requestId: "s" })).toMatchObject({ allowed: true });
      }
  });
});

test.each<[what: string, at: number, number: (value: Buffer) => number]>([
  ["begin after its end", 24, (value) => value.readDoubleLE(32) + 1],
  ["end between two minutes", 32, (value) => value.readDoubleLE(32) + 1],
  ["end that is no number", 32, () => Number.NaN],
  ["end after all minutes of a reply", 32, () => 60_000 * 2 ** 32],
  ["half a permit", 40, () => 0.5],
  ["half a late permit", 48, () => 0.5],
  ["last permit before 1970", 56, () => -1],
])("a calendar window with a %s is CORRUPT", async (what, at, numberOf) => {
  const limiter = new Limiter(opened.store, [POLICIES["calendar-window"]], { name: "api" });
  await limiter.take("id");
  const value = (await raw.getBuffer(keyOf("calendar-window")))!;
  const copy = Buffer.from(value);
  copy.writeDoubleLE(numberOf(value), at);
  await raw.set(keyOf("calendar-window"), copy);
  await isRefused(limiter, keyOf("calendar-window"), what);
});

test("a sliding window with a truncated ring decides by the rest, and is CORRUPT once that is not enough", async () => {
  const limiter = new Limiter(opened.store, [slidingWindow({ limit: 10, span: 1000 })], { name: "api" });
  const key = keyOf("sliding-window");
  for (let i = 0; i < 6; i++) {
    await limiter.take("id");
    opened.clock.nowMs += 100;
  }
  const value = ringOf(readLog((await raw.getBuffer(key))!));
  await raw.set(key, value.subarray(0, 80 + 12 * 2), "KEEPTTL");
  let passed = 0;
  for (let i = 0; i < 10; i++) {
    opened.clock.nowMs += 30;
    const decision = await limiter.take("id").catch(({ code }) => code);
    if (decision.allowed) passed++;
    else if (!decision.retryAfterMs) expect(decision).toBe("CORRUPT");
  }
  expect(passed).toBeLessThanOrEqual(4);
  opened.clock.nowMs += 350;
  await expect(limiter.take("id")).rejects.toMatchObject({ code: "CORRUPT", message: expect.stringContaining(key) });
});

test("a log cut or lengthened at any place, or with another number in its head, is CORRUPT", async () => {
  const limiter = new Limiter(opened.store, [slidingWindow({ limit: 100, span: "1h" })], { name: "api" });
  const key = keyOf("sliding-window");
  for (const takes of [[1, 1, 1], [1, 3, 2], Array(159).fill(1)]) {
    await limiter.reset("id");
    for (const cost of takes) {
      opened.clock.nowMs += 1000;
      await limiter.penalty("id", cost);
    }
    const value = (await raw.getBuffer(key))!;
    expect(formOf(value)).toBe("log");
    opened.clock.nowMs += 1;
    const lengths = Array.from({ length: value.length - 1 }, (_, i) => value.subarray(0, i + 1));
    const longer = [1, 3, 4, 600].map((count) => Buffer.concat([value, Buffer.alloc(count)]));
    // Format, kind, both widths, records, length of the ends, used. With totals, one permit more in the first record is a state too.
    const heads = [0, 1, 2, 3, 4, 5, 6, value[3] === 0 ? 24 : 25, 29].map((at) => {
      const copy = Buffer.from(value);
      copy[at] = copy[at]! + 1;
      return copy;
    });
    const newest = Buffer.from(value);
    newest.writeDoubleLE(newest.readDoubleLE(8) - 1, 8);
    for (const damage of [...lengths, ...longer, ...heads, newest]) {
      await raw.set(key, damage);
      const refused = { code: "CORRUPT", message: expect.stringContaining(key) };
      await expect(limiter.peek("id"), damage.toString("hex")).rejects.toMatchObject(refused);
      await expect(limiter.take("id"), damage.toString("hex")).rejects.toMatchObject(refused);
      expect(await raw.getBuffer(key)).toEqual(damage);
    }
  }
});

test("a concurrency policy counts truncated leases as lent, and is CORRUPT if none is left", async () => {
  const limiter = new Limiter(opened.store, [concurrency({ limit: 3, lease: 1000 })], { name: "api" });
  const key = keyOf("concurrency");
  for (let i = 0; i < 3; i++) await limiter.take("id");
  const value = (await raw.getBuffer(key))!;
  await raw.set(key, value.subarray(0, 32 + 32), "KEEPTTL");
  expect(await limiter.take("id")).toMatchObject({ allowed: false });
  await raw.set(key, value.subarray(0, 32), "KEEPTTL");
  await isRefused(limiter, key, "a total without leases");
  await limiter.take("id");
  const one = (await raw.getBuffer(key))!;
  await raw.set(key, Buffer.concat([one, ...[1, 2].map(() => one.subarray(32))]), "KEEPTTL");
  await isRefused(limiter, key, "more leases than permits");
});

test("in memory, a key of another structure is CORRUPT, and the error names that structure", async () => {
  const store = memoryStore();
  const names = ["fixed-window", "!holds"].map((end) =>
    end === "!holds" ? `${keyPrefix()}${end}` : `${keyPrefix()}:${end}`,
  );
  function keyPrefix() {
    return `${store.keyOf("api:id")}:limit`;
  }
  for (const value of [0, "", null, "text", new Uint8Array(40), [], {}, { kind: 2 }]) {
    const put = {
      ...({ name: "test", keyCount: 1, repeatable: false, arity: 0, encode: () => [] } as object),
      local: (keys: { set(...given: unknown[]): void }, key: string) =>
        keys.set(key, value, 8, Number.POSITIVE_INFINITY),
    };
    await store.run(put as never, names[0]!, undefined);
    const limiter = new Limiter(store, [POLICIES["fixed-window"]], { name: "api", onStoreError: "allow" });
    await expect(limiter.take("id")).rejects.toMatchObject({
      code: "CORRUPT",
      applied: "no",
      message: expect.stringContaining(names[0]!),
    });
    await limiter.reset("id");
    expect(await limiter.take("id")).toMatchObject({ allowed: true });
  }
});

test("a reply of the wrong size is CORRUPT, but only for its own id among those of the batch", async () => {
  const limiter = new Limiter(opened.store, [POLICIES.gcra], { name: "api" });
  const ids = ["one", "id", "other"];
  const takeAll = () => Promise.allSettled(ids.map((id) => limiter.take(id, { requestId: "r" })));
  await takeAll();
  const key = `${opened.store.keyOf("api:id")}:limit!request:r`;
  const value = (await raw.getBuffer(key))!;
  for (const damaged of [value.subarray(0, -1), Buffer.concat([value, Buffer.of(0)])]) {
    await raw.set(key, damaged, "KEEPTTL");
    const [one, own, other] = await takeAll();
    expect([one, other]).toMatchObject([{ value: { allowed: true } }, { value: { allowed: true } }]);
    expect(own).toMatchObject({ reason: { code: "CORRUPT", message: expect.stringContaining(key) } });
  }
});
