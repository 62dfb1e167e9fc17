// Sealed chunks of a journal of pairs: the same pairs, to the bit, in memory and in Redis.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import { STATUS } from "../../../src/engine/journal/format/answer.ts";
import { HEADER_BYTES, writeHeader } from "../../../src/engine/journal/format/chunk.ts";
import { constants, VALUE_PAIR } from "../../../src/engine/journal/format/constants.ts";
import { Dedupe } from "../../../src/engine/journal/format/dedupe.ts";
import { encodeFrame } from "../../../src/engine/journal/format/frames.ts";
import { JournalCopy } from "../../../src/engine/journal/replica/journal-copy.ts";
import { JournalReader } from "../../../src/engine/journal/replica/journal-reader.ts";
import { encodeSealed } from "../../../src/engine/journal/sealed/encode-chunk.ts";
import { isExact } from "../../../src/engine/journal/sealed/is-exact.ts";
import { ChunkOutline } from "../../../src/engine/journal/sealed/outline.ts";
import { eventsOf, type RawChunk } from "../../../src/engine/journal/sealed/raw-chunk.ts";
import { SealedChunk } from "../../../src/engine/journal/sealed/sealed-chunk.ts";
import { ChunkSealer } from "../../../src/engine/journal/sealed/sealer.ts";
import { append } from "../../../src/engine/journal/steps/append.ts";
import { read } from "../../../src/engine/journal/steps/read.ts";
import { closedKey, rotate } from "../../../src/engine/journal/steps/rotate.ts";
import { providePairs } from "../../../src/engine/kernel/blocks/choose.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { pairCodec } from "../../../src/engine/kernel/blocks/pairs.ts";
import { js } from "../../../src/engine/kernel/js/js.ts";
import { memoryStore, redisStore } from "../../../src/entries/index.ts";
import * as layout from "../../../src/generated/layouts/journal.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { numbersOf, pairsOf } from "../../kernel/blocks/pairs.ts";
import { hexOf, RANDOM_BITS, VALUES, valuesOf } from "../../kernel/blocks/shapes.ts";
import { randomOf } from "../../kernel/columns.ts";
import { inOneSlice } from "./in-one-slice.ts";
import { CREATED_MS, headerOf } from "./raw-chunks.ts";

const kernel = js.create();
const PAIR_FLAG = 4;

beforeEach(() => providePairs(pairCodec));

/** A frame of pairs. */
function frameOf(sequence: number, pairs: Float64Array, times?: number[]) {
  const frame = encodeFrame(9, sequence, pairs, times);
  frame.bytes[0]! |= PAIR_FLAG;
  return frame;
}

function somePairs(shape: string, numbers: string, count: number, random: () => number): Float64Array {
  return pairsOf(numbersOf(numbers, count, random), valuesOf(shape, Float32Array, count, random) as Float32Array);
}

/** A closed chunk of frames of pairs. */
function chunkOf(frames: readonly Uint8Array[]): RawChunk {
  const header = headerOf(VALUE_PAIR, CREATED_MS);
  const head = new Uint8Array(HEADER_BYTES);
  writeHeader(head, header);
  return { header, bytes: new Uint8Array(Buffer.concat([head, ...frames])) };
}

function sealedOf(chunk: RawChunk): Uint8Array {
  return inOneSlice(encodeSealed(jsCodec, kernel, inOneSlice(eventsOf(chunk, new Dedupe()))));
}

describe.each([...Object.keys(VALUES), RANDOM_BITS])("a sealed chunk of pairs: %s", (shape) => {
  test("has the pairs and times of the chunk, and the statistics of the values", () => {
    const random = randomOf(8);
    const columns = ["zipf", "even", "one", "all classes, even"].map((each) => somePairs(shape, each, 900, random));
    const times = columns[0]!.map((_, i) => CREATED_MS - (i % 700));
    const chunk = chunkOf(columns.map((pairs, i) => frameOf(i, pairs, i % 2 ? [...times] : undefined).bytes));
    const bytes = sealedOf(chunk);
    const sealed = SealedChunk.parse(bytes);
    const found: { pairs: string; times: number[] }[] = [];
    // A block is valid until the next one.
    for (const block of sealed.decode(jsCodec)) found.push({ pairs: hexOf(block.values), times: [...block.times] });
    expect(found.map(({ pairs }) => pairs).join("") === columns.map(hexOf).join("")).toBe(true);
    expect(found.flatMap((block) => block.times)).toEqual(
      columns.flatMap((_, i) => [...(i % 2 ? times : times.map(() => CREATED_MS))]),
    );
    const all = new Float64Array(columns.flatMap((pairs) => [...pairs]));
    const { min, max, nanCount, sumHigh } = kernel.summary(pairCodec.valuesOf(all));
    const record = new DataView(bytes.buffer, HEADER_BYTES);
    expect(record.getFloat64(layout.SEALED_MIN_AT, true)).toBe(min);
    expect(record.getFloat64(layout.SEALED_MAX_AT, true)).toBe(max);
    expect(record.getFloat64(layout.SEALED_SUM_HIGH_AT, true)).toBe(sumHigh);
    expect(record.getUint32(layout.SEALED_NAN_COUNT_AT, true)).toBe(nanCount);
    const { counted } = inOneSlice(eventsOf(chunk, new Dedupe()));
    expect(inOneSlice(isExact(jsCodec, bytes, chunk, counted))).toBe(true);
    // Another number at the last event.
    chunk.bytes[chunk.bytes.length - 4]! ^= 1;
    expect(inOneSlice(isExact(jsCodec, bytes, chunk, counted))).toBe(false);
  });
});

test("without the codec of pairs, and as an outline, a chunk of pairs is refused", () => {
  const bytes = sealedOf(chunkOf([frameOf(1, somePairs("ties", "zipf", 300, randomOf(9))).bytes]));
  expect(SealedChunk.parse(bytes).count).toBe(300);
  expect(() => ChunkOutline.parse(bytes)).toThrow(OrielError);
  providePairs(undefined);
  expect(() => SealedChunk.parse(bytes)).toThrow(/^chunk 5 has a damaged block 0: it has another value type/);
});

test("damage of any byte is noticed", () => {
  const bytes = sealedOf(chunkOf([frameOf(1, somePairs("ties", "zipf", 300, randomOf(10))).bytes]));
  for (let at = 0; at < bytes.length; at++) {
    // The number and the format are read before the checksum; they are compared with the chunk before.
    if (at >= 8 && at < 16) continue;
    const spoilt = bytes.slice();
    spoilt[at]! ^= 16;
    expect(() => [...SealedChunk.parse(spoilt).decode(jsCodec)], `byte ${at}`).toThrow(OrielError);
  }
});

const STORES = {
  async memory() {
    const store = memoryStore();
    return { store, end: () => store.close() };
  },
  async Redis() {
    const server = await startRedis();
    const store = redisStore(server.url, { registry: false });
    return { store, end: () => store.close().then(() => server.stop()) };
  },
};

describe.each(["memory", "Redis"] as const)("a journal of pairs in %s", (kind) => {
  let stage: Awaited<ReturnType<(typeof STORES)[typeof kind]>>;
  const { minSealedBytes } = constants;
  beforeEach(async () => {
    constants.minSealedBytes = 0;
    stage = await STORES[kind]();
  });
  afterEach(async () => {
    constants.minSealedBytes = minSealedBytes;
    await stage.end();
  });

  test("gives the same copy before it is sealed, after that, and from a part", async () => {
    const { store } = stage;
    const key = store.keyOf("pairs");
    const random = randomOf(11);
    const columns = Array.from({ length: 6 }, () => somePairs("lognormal to 1 us", "zipf", 2000, random));
    const put = async (sequence: number, pairs: Float64Array) => {
      const { header, nowMs } = await store.run(read, key, "header");
      const answer = await store.run(append, key, {
        valueType: VALUE_PAIR,
        clock: 0,
        retentionMs: 60_000,
        voidAfterMs: nowMs + constants.voidAfterMs,
        birth: header?.birth ?? 77,
        frames: [frameOf(sequence, pairs)],
        known: "none",
      });
      expect(answer.status).toBe(STATUS.done);
    };
    const reader = new JournalReader(store, key);
    const pairsIn = async (copy: JournalCopy) => {
      const { tail } = copy;
      const cut = await reader.open(tail && copy.knownOf(tail));
      await reader.follow(copy, cut, 0, 1e9);
      return copy.segments.list.map((segment) => hexOf(segment.values.subarray(0, segment.count))).join("");
    };
    const part = new JournalCopy();
    const numbers: number[] = [];
    for (const [i, pairs] of columns.entries()) {
      await put(i, pairs);
      if (i === 2) expect((await pairsIn(part)) === columns.slice(0, 3).map(hexOf).join("")).toBe(true);
      if (i % 2 === 0) continue;
      const { header } = await store.run(read, key, "header");
      numbers.push(header!.number);
      await store.run(rotate, key, { number: header!.number, birth: header!.birth, nextBirth: 5 + i });
    }
    const wanted = columns.map(hexOf).join("");
    expect((await pairsIn(new JournalCopy())) === wanted).toBe(true);
    const sealer = new ChunkSealer(store, key, () => ({ codec: jsCodec, kernel }));
    for (const number of numbers) {
      const before = await store.run(read, closedKey(key, number), "header");
      expect(await sealer.seal(number)).toBe("sealed");
      const after = await store.run(read, closedKey(key, number), "header");
      expect(after.header).toEqual({ ...before.header, format: constants.sealedFormat });
      expect(after.length).toBeLessThan(before.length / 2);
      expect(await sealer.seal(number)).toBe("already sealed");
    }
    expect((await pairsIn(new JournalCopy())) === wanted).toBe(true);
    expect((await pairsIn(part)) === wanted).toBe(true);
  });
});
