// The function oriel_window: empty windows, misuse, damage, and the size of its replies.
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import "../../../src/entries/index.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { randomOf } from "../../kernel/columns.ts";
import { asked, RandomJournal, START_MS, steppedLibrary } from "./random-journal.ts";

const { minSealedBytes } = constants;
let server: RedisServer;
let redis: Redis;

beforeAll(async () => {
  constants.minSealedBytes = 0;
  server = await startRedis();
  redis = new Redis(server.url);
  await redis.call("FUNCTION", "LOAD", "REPLACE", steppedLibrary);
});
beforeEach(() => redis.flushall());
afterAll(async () => {
  constants.minSealedBytes = minSealedBytes;
  redis?.disconnect();
  await server?.stop();
});

const opened: RandomJournal[] = [];
function open(shape: string, valueType: number, clock = 0): RandomJournal {
  const journal = new RandomJournal(redis, 1, shape, valueType, clock);
  opened.push(journal);
  return journal;
}
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

const nothing = { count: "0", sum: "0", mean: "nan", min: "nan", max: "nan" };
const ask = (journal: RandomJournal, ...args: (number | string)[]) => asked(redis, journal, "FCALL", ...args);
const refusal = (journal: RandomJournal, ...args: (number | string)[]) =>
  ask(journal, ...args).then(
    (reply) => `answered ${JSON.stringify(reply)}`,
    (error: Error) => error.message,
  );

/** A series of three sealed chunks of 300 batches each, 10 ms apart, and an open one. */
async function sealedJournal(valueType = 0): Promise<RandomJournal> {
  const journal = open("lognormal to 1 us", valueType);
  journal.retentionMs = 60_000;
  for (let chunk = 0; chunk < 4; chunk++) {
    if (chunk > 0) await journal.rotate();
    for (let i = 0; i < 100; i++) {
      await journal.record(Array.from({ length: 21 }, (_, k) => Math.round(1000 * Math.sin(i * k + chunk)) / 100));
      journal.nowMs += 10;
    }
  }
  for (const number of await journal.closed()) expect(await journal.seal(number)).toBe("sealed");
  return journal;
}

describe("a window without events", () => {
  test("of a series that is not there, or was deleted", async () => {
    const journal = open("ties", 0);
    expect(await ask(journal, 1000)).toEqual({ ...nothing, to: `${START_MS}` });
    expect(await ask(journal, 1000, 5)).toEqual({ ...nothing, to: "5" });
    expect(await ask(journal, 1000, "-0")).toEqual({ ...nothing, to: "0" });
    await journal.record([1, 2, 3]);
    await journal.delete();
    expect(await ask(journal, 1000)).toEqual({ ...nothing, to: `${START_MS}` });
  });

  test("before the first event and after the last one", async () => {
    const journal = await sealedJournal();
    const to = START_MS - 1;
    expect(await ask(journal, 1000, to)).toEqual({ ...nothing, to: `${to}` });
    journal.nowMs += 30_000;
    expect(await ask(journal, 1000)).toEqual({ ...nothing, to: `${journal.nowMs}` });
  });
});

test("-0 is below 0, and equal values have themselves as their mean", async () => {
  const journal = open("ties", 1);
  await journal.record([0, -0, 0]);
  expect(await ask(journal, 1000)).toMatchObject({ count: "3", sum: "0", mean: "0", min: "-0", max: "0" });
  await journal.delete();
  journal.nowMs += constants.dedupeMs + 1;
  await journal.record(new Array(49).fill(0.1));
  expect(await ask(journal, 1000)).toMatchObject({ count: "49", sum: "4.9", mean: "0.1", min: "0.1", max: "0.1" });
});

test.each([0, 1])("a reply takes less than 200 bytes of the connection (value type %i)", async (valueType) => {
  const journal = await sealedJournal(valueType);
  await redis.set("clock", journal.nowMs);
  const connection = new RespConnection(server.url);
  const [reply] = await connection.send([["FCALL_RO", "oriel_window", "1", journal.key, "60000"]]);
  connection.close();
  const words = (reply as { bulk: Buffer }[]).map(({ bulk }) => bulk);
  // RESP: *count, and $length before each text.
  const sizeBytes = words.reduce(
    (sum, { length }) => sum + `$${length}`.length + length + 4,
    `*${words.length}`.length + 2,
  );
  expect(words.map(String)).toContain(`${4 * 100 * 21}`);
  expect(sizeBytes).toBeGreaterThan(100);
  expect(sizeBytes).toBeLessThan(200);
});

describe("misuse is one error that names the argument", () => {
  const cases: [what: string, args: (number | string)[], error: RegExp][] = [
    ["no span", [], /^ARGUMENT it needs one key, the span in ms, and the end or nothing/],
    ["too many arguments", [1, 2, 3], /^ARGUMENT it needs one key/],
    ["a span of 0", [0], /^ARGUMENT the span is "0"; it must be whole ms, from 1 on/],
    ["a negative span", [-5], /^ARGUMENT the span is "-5"/],
    ["a duration", ["1m"], /^ARGUMENT the span is "1m"/],
    ["a fraction", ["1.5"], /^ARGUMENT the span is "1.5"/],
    ["nan", ["nan"], /^ARGUMENT the span is "nan"/],
    ["an infinity", ["inf"], /^ARGUMENT the span is "inf"/],
    ["a hexadecimal number", ["0x10"], /^ARGUMENT the span is "0x10"/],
    ["an exponent", ["1e3"], /^ARGUMENT the span is "1e3"/],
    ["nothing", [""], /^ARGUMENT the span is ""/],
    ["lines", ["1\r\n2"], /^ARGUMENT the span is "1/],
    ["a span that no f64 has", ["9007199254740992"], /^ARGUMENT the span is "9007199254740992"/],
    [
      "a span above the retention",
      [60_001],
      /^ARGUMENT the span is 60001 ms; it must be at most the retention, 60000 ms/,
    ],
    ["an end that is no number", [1000, "now"], /^ARGUMENT the end is "now"; it must be whole ms/],
    ["an end of nan", [1000, "nan"], /^ARGUMENT the end is "nan"/],
    ["an end with a fraction", [1000, "5.5"], /^ARGUMENT the end is "5.5"/],
  ];
  test.each(cases)("%s", async (_what, args, error) => {
    const journal = open("ties", 0);
    journal.retentionMs = 60_000;
    await journal.record([1, 2, 3]);
    expect(await refusal(journal, ...args)).toMatch(error);
  });

  test("the key of a closed chunk, of another type or of foreign bytes, and several keys", async () => {
    const journal = await sealedJournal();
    const [number] = await journal.closed();
    const call = (...words: string[]) =>
      redis.call("FCALL_RO", "oriel_window", ...words).catch((error) => error.message);
    expect(await call("1", `${journal.key}:${number}`, "1000")).toMatch(/^ARGUMENT the key .* is a closed chunk/);
    await redis.lpush("list", "1");
    expect(await call("1", "list", "1000")).toMatch(/^WRONGTYPE/);
    for (const [text, why] of [
      ["x", "is too short"],
      ["x".repeat(100), "is no chunk of a known format"],
      [`\x01${"\0".repeat(99)}`, "has an impossible header"],
      // Pairs of a group number and a value, which it does not read.
      [Buffer.concat([Buffer.of(1, 5), (await redis.getBuffer(journal.key))!.subarray(2)]), "has an impossible header"],
    ] as const) {
      await redis.set("text", text);
      expect(await call("1", "text", "1000")).toContain(`CORRUPT the value of the key text is damaged: it ${why}`);
    }
    expect(await call("2", journal.key, journal.key, "1000")).toMatch(/^ARGUMENT it needs one key/);
    expect(await call("0", "1000")).toMatch(/^ARGUMENT it needs one key/);
  });
});

describe("damage", () => {
  /** A window whose edges are inside the oldest and the newest of three sealed chunks. */
  const edges = [2100, START_MS + 2555];

  test.each([0, 1])(
    "of any byte of a sealed chunk is an error, or changes no number (value type %i)",
    async (valueType) => {
      const journal = await sealedJournal(valueType);
      const right = await ask(journal, ...edges);
      const random = randomOf(11);
      let refused = 0;
      for (const number of await journal.closed()) {
        const key = `${journal.key}:${number}`;
        const bytes = (await redis.getBuffer(key))!;
        const places = [
          ...Array.from({ length: 192 }, (_, i) => i),
          ...Array.from({ length: 250 }, () => Math.floor(bytes.length * random())),
        ];
        for (const place of places) {
          const damaged = Buffer.from(bytes);
          damaged[place]! ^= 1 << Math.floor(8 * random());
          await redis.set(key, damaged);
          const found = await refusal(journal, ...edges);
          if (/^(CORRUPT|LOST) /.test(found)) refused++;
          else expect(found, `byte ${place} of chunk ${number}`).toBe(`answered ${JSON.stringify(right)}`);
        }
        for (const length of [1, 63, 64, 100, 191, 192, 300, bytes.length - 1]) {
          await redis.set(key, bytes.subarray(0, length));
          const found = await refusal(journal, ...edges);
          if (!/^CORRUPT /.test(found)) expect(found, `${length} bytes`).toBe(`answered ${JSON.stringify(right)}`);
        }
        await redis.set(key, bytes);
      }
      expect(refused).toBeGreaterThan(3 * 192);
      expect(await ask(journal, ...edges)).toEqual(right);
    },
  );

  test("of the frames of a chunk that is not sealed", async () => {
    const journal = open("ties", 0);
    for (let i = 0; i < 5; i++) await journal.record([1, 2, 3]);
    const bytes = (await redis.getBuffer(journal.key))!;
    await redis.set(journal.key, bytes.subarray(0, bytes.length - 1));
    expect(await refusal(journal, 1000)).toMatch(/^CORRUPT .* it ends within a frame/);
    for (const [place, byte] of [
      [64, 0x20],
      [64, 0x11],
      [66, 0],
    ] as const) {
      const damaged = Buffer.from(bytes);
      damaged[place] = byte;
      await redis.set(journal.key, damaged);
      expect(await refusal(journal, 1000)).toMatch(/^CORRUPT .* it has foreign bytes/);
    }
  });

  test("a chunk that is missing or is another one", async () => {
    const journal = await sealedJournal();
    const [newest, middle] = await journal.closed();
    const key = `${journal.key}:${middle}`;
    const bytes = (await redis.getBuffer(key))!;
    await redis.del(key);
    expect(await refusal(journal, 60_000)).toBe(
      `LOST the key ${key} is missing before it expires, or its slot is moving`,
    );
    await redis.set(key, (await redis.getBuffer(`${journal.key}:${newest}`))!);
    expect(await refusal(journal, 60_000)).toMatch(/^CORRUPT .* it does not fit to the chunk after it/);
    await redis.set(key, bytes);
    expect(await ask(journal, 60_000)).toMatchObject({ count: "8400" });
    await redis.del(key);
    // By its header it has expired. The window that begins later does not lack it.
    journal.nowMs += 180_000;
    expect(await ask(journal, 60_000)).toEqual({ ...nothing, to: `${journal.nowMs}` });
  });
});

test("a sum above the largest f64, and more work than one call may take, are TOO_LARGE", async () => {
  const journal = open("ties", 1);
  await journal.record([1.7e308, 1.7e308]);
  expect(await refusal(journal, 1000)).toMatch(/^TOO_LARGE the sum of its events is above the largest f64/);
  await journal.delete();
  journal.nowMs += constants.dedupeMs + 1;
  for (let i = 0; i < 9; i++) await journal.record(new Array(60_000).fill(0.5));
  expect(await refusal(journal, 1000)).toMatch(/^TOO_LARGE the window needs too many bytes that are not sealed/);
});
