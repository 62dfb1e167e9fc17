// Reads of sealed chunks: pages, outlines and parts are equal in both forms of each step.
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import "../../../src/entries/index.ts";
import { type JournalAnswer, type Known, STATUS } from "../../../src/engine/journal/format/answer.ts";
import { readHeader } from "../../../src/engine/journal/format/chunk.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { encodeFrame } from "../../../src/engine/journal/format/frames.ts";
import { rawEndOf } from "../../../src/engine/journal/sealed/raw-end.ts";
import { ChunkSealer } from "../../../src/engine/journal/sealed/sealer.ts";
import { readOutlines } from "../../../src/engine/journal/sealed/steps/read-outlines.ts";
import { readParts } from "../../../src/engine/journal/sealed/steps/read-parts.ts";
import { append } from "../../../src/engine/journal/steps/append.ts";
import { type ReadRequest, read } from "../../../src/engine/journal/steps/read.ts";
import { closedKey, rotate } from "../../../src/engine/journal/steps/rotate.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { activeKernel } from "../../../src/engine/kernel/choose.ts";
import { runs, seen } from "../../harness/runs.ts";
import { type OpenStore, onMemory, onRedis6, START_MS } from "../../series/contract/stores.ts";

const CHUNKS = 6;
const NAME = "sealed";
let opened: OpenStore[];
let firstNumber: number;

beforeAll(async () => {
  const { pageBytes, minSealedBytes } = constants;
  opened = await Promise.all([onMemory(), onRedis6()]);
  constants.minSealedBytes = 0;
  for (const { store, clock } of opened) {
    clock.nowMs = START_MS;
    const key = store.keyOf(NAME);
    let sequence = 0;
    for (let chunk = 0; chunk < CHUNKS; chunk++) {
      for (let i = 0; i < 30; i++) {
        const values = Float32Array.from({ length: 9 }, (_, k) => Math.round(50 * Math.sin(chunk + i * k)) / 8);
        const frames = [encodeFrame(1 + (i % 3), ++sequence, values)];
        const call = {
          valueType: 0,
          clock: 0,
          retentionMs: 60_000,
          voidAfterMs: clock.nowMs + 10_000,
          birth: 7,
          frames,
        };
        const { status } = await store.run(append, key, { ...call, known: "none" });
        expect(status).toBe(STATUS.done);
        clock.nowMs += 40;
      }
      const { header } = await store.run(read, key, "header");
      const { number, birth } = header!;
      if (chunk === 0) firstNumber = number;
      if (chunk < CHUNKS - 1) await store.run(rotate, key, { number, birth, nextBirth: 1000 + chunk });
      // The first chunks are further from the open one than copies can be.
      if (chunk === 1) clock.nowMs += 25_000;
    }
    const sealer = new ChunkSealer(store, key, () => ({ codec: jsCodec, kernel: activeKernel() }));
    // Chunk 3 stays raw, between sealed ones.
    for (const back of [0, 1, 2, 4]) expect(await sealer.seal(firstNumber + back)).toBe("sealed");
  }
  Object.assign(constants, { pageBytes, minSealedBytes });
});
afterAll(() => Promise.all(opened.map((each) => each.close())));

/** The answer without what only one form has: views of other sizes. */
const plain = (answer: JournalAnswer) => ({
  ...answer,
  verdicts: [...answer.verdicts],
  bytes: Buffer.from(answer.bytes),
  closedChunks: answer.closedChunks && {
    isMissing: answer.closedChunks.isMissing,
    chunks: answer.closedChunks.chunks.map((chunk) => ({ ...chunk, bytes: Buffer.from(chunk.bytes) })),
  },
});

async function same<T>(ask: (opened: OpenStore) => Promise<T>): Promise<T> {
  const [memory, redis] = await Promise.all(opened.map(ask));
  expect(redis).toEqual(memory);
  return memory!;
}

const WHAT = ["nothing", "header", "end", "place", "frame", "birth", "number", "short"] as const;
const PAGES = [0, 1, 64, 184, 1000, 1 << 20, 1 << 30];

test("a page, and the rest after a known part", async () => {
  const continued = new Set<boolean>();
  for (let back = 0; back < CHUNKS; back++)
    for (const what of [...WHAT, ...PAGES]) {
      const answer = await same(async ({ store, bytesOf }) => {
        const key = closedKey(store.keyOf(NAME), firstNumber + back);
        const bytes = await bytesOf(key);
        const end = bytes?.[0] === constants.sealedFormat ? rawEndOf(bytes) : undefined;
        const { number, birth } = bytes ? readHeader(bytes) : { number: 0, birth: 1 };
        const part: Known = end ?? { number, birth, length: 100, place: 64, frame: new Uint8Array(16) };
        const requests: Record<(typeof WHAT)[number], ReadRequest> = {
          nothing: undefined,
          header: "header",
          end: part,
          place: { ...part, place: 0 },
          frame: { ...part, frame: new Uint8Array(16).fill(9) },
          birth: { ...part, birth: part.birth + 1 },
          number: { ...part, number: part.number + 1 },
          short: { ...part, length: part.length - 1 },
        };
        const request = typeof what === "number" ? { ...part, birth: 0, length: what } : requests[what];
        return plain(await store.run(read, key, request));
      });
      continued.add(answer.continued);
    }
  expect(continued).toEqual(new Set([true, false]));
});

test("outlines of a window", async () => {
  const lengths = new Set<number>();
  const query = fc.record({
    spanMs: fc.constantFrom(1, 500, 1200, 3000, 7000, 30_000, 60_000),
    agoMs: fc.constantFrom(undefined, 0, 700, 2400, 26_000),
    closed: fc.constantFrom("right" as const, "both" as const),
    hasPercentiles: fc.boolean(),
    maxBytes: fc.constantFrom(100, 10_000, 1 << 20),
  });
  await fc.assert(
    fc.asyncProperty(query, async ({ spanMs, agoMs, maxBytes, ...rest }) => {
      const answer = await same(async ({ store, clock }) => {
        const atMs = agoMs === undefined ? undefined : clock.nowMs - agoMs;
        const from = atMs === undefined ? Number.POSITIVE_INFINITY : atMs - spanMs;
        const span = atMs === undefined ? spanMs : Number.NEGATIVE_INFINITY;
        const input = { ...rest, spanMs: span, fromMs: from, maxBytes, atMs };
        return plain(await store.run(readOutlines, store.keyOf(NAME), input));
      });
      for (const { length } of answer.closedChunks?.chunks ?? []) lengths.add(length);
    }),
    { numRuns: runs(200) },
  );
  // Only the statistics, heads too, and everything before the blocks; and a raw chunk.
  expect(lengths.size).toBeGreaterThan(seen(3));
});

test("parts of a chunk", async () => {
  const part = fc.tuple(fc.nat(3000), fc.nat(500));
  const input = fc.record({
    back: fc.nat(CHUNKS - 1),
    parts: fc.array(part, { minLength: 1, maxLength: 40 }),
    spoilt: fc.constantFrom("", "", "", "birth", "checksum"),
  });
  let found = 0;
  await fc.assert(
    fc.asyncProperty(input, async ({ back, parts, spoilt }) => {
      const bytes = await same(async ({ store, bytesOf }) => {
        const key = closedKey(store.keyOf(NAME), firstNumber + back);
        const chunk = await bytesOf(key);
        const birth = chunk ? readHeader(chunk).birth + (spoilt === "birth" ? 1 : 0) : 1;
        const checksum = chunk ? chunk.readUInt32LE(88) ^ (spoilt === "checksum" ? 1 : 0) : 1;
        const inside = parts.map(([from, length]) => {
          const end = Math.min(chunk?.length ?? 0, from + length);
          return [Math.min(from, end), end - Math.min(from, end)] as const;
        });
        const answer = await store.run(readParts, key, { birth, checksum: checksum >>> 0, parts: inside });
        const wanted = inside.map(([from, length]) => chunk?.subarray(from, from + length) ?? Buffer.alloc(0));
        if (answer) expect(Buffer.from(answer)).toEqual(Buffer.concat(wanted));
        return answer && Buffer.from(answer);
      });
      if (bytes) found++;
      if (spoilt) expect(bytes).toBeUndefined();
    }),
    { numRuns: runs(200) },
  );
  expect(found).toBeGreaterThan(0);
});
