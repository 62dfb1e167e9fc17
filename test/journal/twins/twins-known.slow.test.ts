import fc from "fast-check";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JournalAnswer, Known } from "../../../src/engine/journal/format/answer.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { encodeFrame, noParts, readFrame } from "../../../src/engine/journal/format/frames.ts";
import { append } from "../../../src/engine/journal/steps/append.ts";
import { read } from "../../../src/engine/journal/steps/read.ts";
import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { runs } from "../../harness/runs.ts";
import { front, startRedis } from "../../harness/servers/redis-server.ts";
import { type OpenStore, onMemory, onRedis6 } from "../../series/contract/stores.ts";

/** Some calls of one history: who reads has seen the chunk as it was after `seen` of them. */
const history = fc.record({
  counts: fc.array(fc.constantFrom(1, 1, 2, 30, 65_535), { minLength: 1, maxLength: 8 }),
  waitsMs: fc.array(fc.constantFrom(0, 0, 1, 400, 1000), { minLength: 8, maxLength: 8 }),
  seen: fc.nat(7),
  last: fc.array(fc.constantFrom(1, 3, 65_535), { maxLength: 4 }),
  spoil: fc.constantFrom(undefined, undefined, "birth" as const, "frame" as const, "length" as const),
});

const framesOf = (counts: number[], sequence: number) =>
  counts.map((count, i) =>
    encodeFrame(
      7,
      sequence + i,
      Float32Array.from({ length: count }, (_, at) => at),
    ),
  );

const plain = (answer: JournalAnswer) => ({
  ...answer,
  verdicts: [...answer.verdicts],
  bytes: Buffer.from(answer.bytes).toString("latin1"),
});

/** The position of a reader of the whole chunk: the place and bytes of its last frame header. */
function knownOf(chunk: Buffer, header: { number: number; birth: number }): Known {
  const view = new DataView(chunk.buffer, chunk.byteOffset, chunk.length);
  const parts = noParts();
  let place = 0;
  for (let at = 64; readFrame(view, at, 0, parts) === "whole"; at += parts.size) place = at;
  return { ...header, length: chunk.length, place, frame: chunk.subarray(place, place + 16) };
}

function spoilt(known: Known, how: "birth" | "frame" | "length" | undefined): Known {
  if (how === "birth") return { ...known, birth: known.birth + 1 };
  if (how === "frame") return { ...known, frame: Buffer.from(known.frame.map((byte) => byte ^ 1)) };
  return how === "length" ? { ...known, length: known.length + (3 << 20) } : known;
}

describe("the bytes that a caller is missing", () => {
  let opened: OpenStore[];
  beforeAll(async () => {
    opened = await Promise.all([onMemory(), onRedis6()]);
  });
  afterAll(() => Promise.all(opened.map((each) => each.close())));

  async function play(
    { store, clock, bytesOf }: OpenStore,
    startMs: number,
    one: typeof history extends fc.Arbitrary<infer T> ? T : never,
  ) {
    clock.nowMs = startMs;
    const key = store.keyOf("known");
    const call = { valueType: 0, clock: 0, retentionMs: 60_000, birth: 9 };
    const write = (counts: number[], sequence: number, known: Known | undefined | "none") =>
      store.run(append, key, {
        ...call,
        voidAfterMs: clock.nowMs + constants.voidAfterMs,
        frames: framesOf(counts, sequence),
        known,
      });
    let known: Known | undefined;
    for (const [i, count] of one.counts.entries()) {
      const { header } = await write([count], 100 * i, "none");
      if (i === one.seen % one.counts.length) known = spoilt(knownOf((await bytesOf(key))!, header!), one.spoil);
      clock.nowMs += one.waitsMs[i]!;
    }
    const answers = [await store.run(read, key, known), await store.run(read, key, undefined)];
    if (one.last.length > 0) answers.push(await write(one.last, 5000, known), await write(one.last, 5000, undefined));
    return { answers: answers.map(plain), known };
  }

  test("are equal in both forms, from every place, over pages and after damage", async () => {
    await fc.assert(
      fc.asyncProperty(history, async (one) => {
        await Promise.all(opened.map((each) => each.clear()));
        const startMs = opened[0]!.clock.nowMs;
        const [memory, redis] = await Promise.all(opened.map((each) => play(each, startMs, one)));
        expect(redis).toEqual(memory);
        for (const answer of redis!.answers) {
          expect(answer.bytes.length).toBe(Math.min(constants.pageBytes, answer.length - answer.from));
          if (one.spoil) expect(answer.continued).toBe(false);
        }
      }),
      { numRuns: runs(60) },
    );
  });
});

// What stands before a server may send its commands in another way.
test.skipIf(front.start)("an append sends Redis only the necessary commands", async () => {
  const server = await startRedis();
  const client = new Redis(server.url);
  const store = redisStore(client as unknown as IoredisClient);
  const key = store.keyOf("few");
  const write = async (known: Known | undefined | "none", events = 1) => {
    const call = { valueType: 0, clock: 0, retentionMs: 60_000, voidAfterMs: Date.now() + 10_000, birth: 9, known };
    const { header } = await store.run(append, key, { ...call, frames: framesOf([events], 1) });
    return knownOf((await client.getBuffer(key))!, header!);
  };
  const counted = async (known: Known | "none") => {
    await client.config("RESETSTAT");
    await write(known);
    const stats = await client.info("commandstats");
    return Object.fromEntries(
      [...stats.matchAll(/cmdstat_(\w+):calls=(\d+)/g)].map(([, name, calls]) => [name, +calls!]),
    );
  };
  const known = await write("none");
  for (const each of [known, "none" as const]) {
    const { setrange = 0, pexpireat = 0, ...others } = await counted(each);
    const reads = each === "none" ? { getrange: 1, strlen: 1 } : { getrange: 2 };
    expect(others).toEqual({ evalsha: 1, time: 1, append: 1, get: 1, ...reads });
    expect(setrange).toBeLessThanOrEqual(1);
    expect(pexpireat).toBeLessThanOrEqual(setrange);
  }
  // Of a long last frame only the header is read, by a command of its own.
  const { setrange, pexpireat, ...others } = await counted(await write("none", 1000));
  expect(others).toEqual({ evalsha: 1, time: 1, append: 1, get: 1, getrange: 3, strlen: 1 });
  expect(await client.pexpiretime(key)).toBeGreaterThan(Date.now() + 60_000);
  client.disconnect();
  await store.close();
  await server.stop();
});
