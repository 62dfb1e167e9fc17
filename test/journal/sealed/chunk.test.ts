import { describe, expect, test } from "vitest";
import { OrielError } from "../../../src/base/errors.ts";
import { FRAME_HEADER_BYTES } from "../../../src/engine/journal/format/answer.ts";
import { readHeader } from "../../../src/engine/journal/format/chunk.ts";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import { Dedupe } from "../../../src/engine/journal/format/dedupe.ts";
import { encodeFrame } from "../../../src/engine/journal/format/frames.ts";
import { Checksum } from "../../../src/engine/journal/sealed/checksum.ts";
import { encodeSealed } from "../../../src/engine/journal/sealed/encode-chunk.ts";
import { isExact } from "../../../src/engine/journal/sealed/is-exact.ts";
import { ChunkOutline } from "../../../src/engine/journal/sealed/outline.ts";
import { admitFrames, eventsOf } from "../../../src/engine/journal/sealed/raw-chunk.ts";
import { SealedChunk } from "../../../src/engine/journal/sealed/sealed-chunk.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { wasmCodec } from "../../../src/engine/kernel/blocks/wasm-codec.ts";
import { js } from "../../../src/engine/kernel/js/js.ts";
import { wasmSimd } from "../../../src/engine/kernel/wasm/wasm-simd.ts";
import * as layout from "../../../src/generated/layouts/journal.ts";
import { randomOf } from "../../kernel/columns.ts";
import { inOneSlice } from "./in-one-slice.ts";
import { countedOf, madeChunk, SHAPES } from "./raw-chunks.ts";

/** Numbers that depend on the name of a test alone. */
const randomFor = (name: string) => randomOf(new Checksum().add(new TextEncoder().encode(name)).value);
const wasm = { codec: wasmCodec(), kernel: wasmSimd.create() };
const plain = { codec: jsCodec, kernel: js.create() };

function decoded(sealed: SealedChunk, codec = jsCodec): { times: number[]; values: number[] } {
  const [times, values]: [number[], number[]] = [[], []];
  for (const block of sealed.decode(codec)) {
    times.push(...block.times);
    values.push(...block.values);
  }
  return { times, values };
}

describe.each(SHAPES)("a sealed chunk of %s", (shape) => {
  test.each([1, 3, 60, 400])("has the events of %s frames without copies, to the bit, by both codecs", (count) => {
    const random = randomFor(`${shape} ${count}`);
    const chunk = madeChunk(random, shape, count);
    const counted = countedOf(chunk.frames);
    const events = inOneSlice(eventsOf(chunk, new Dedupe()));
    const bytes = inOneSlice(encodeSealed(plain.codec, plain.kernel, events));
    expect(inOneSlice(encodeSealed(wasm.codec, wasm.kernel, events))).toEqual(bytes);
    const sealed = SealedChunk.parse(bytes);
    for (const { codec } of [plain, wasm]) {
      const { times, values } = decoded(sealed, codec);
      expect(times).toEqual(counted.flatMap((frame) => frame.times));
      expect(values).toEqual(counted.flatMap((frame) => frame.values));
    }
    expect(sealed.count).toBe(counted.flatMap((frame) => frame.values).length);
    expect(sealed.end).toEqual(chunk.end);
    expect(readHeader(bytes)).toEqual({ ...chunk.header, format: constants.sealedFormat });
  });

  test("leaves out copies of frames in the chunk before, and names the frames of which copies may follow", () => {
    const random = randomFor(`${shape} before`);
    const before = madeChunk(random, shape, 30, 0);
    const chunk = madeChunk(random, shape, 30, 0);
    const dedupe = new Dedupe();
    inOneSlice(admitFrames(before, dedupe));
    // Both chunks have the same producers, so some of their sequences are the same.
    const counted = countedOf(chunk.frames, countedOf(before.frames));
    const sealed = SealedChunk.parse(
      inOneSlice(encodeSealed(plain.codec, plain.kernel, inOneSlice(eventsOf(chunk, dedupe)))),
    );
    expect(decoded(sealed).values).toEqual(counted.flatMap((frame) => frame.values));
    const { lastStampMs } = chunk.header;
    for (const frame of chunk.frames) {
      const isNamed = counted.some(
        (one) =>
          one.producer === frame.producer &&
          one.sequence === frame.sequence &&
          lastStampMs - one.stampMs < constants.dedupeMs,
      );
      expect(sealed.names.holds(frame.producer, frame.sequence, lastStampMs)).toBe(isNamed);
    }
  });
});

describe("damage", () => {
  const whole = () =>
    inOneSlice(
      encodeSealed(
        plain.codec,
        plain.kernel,
        inOneSlice(eventsOf(madeChunk(randomFor("damage"), "uniform", 90), new Dedupe())),
      ),
    );
  const read = (bytes: Uint8Array) => decoded(SealedChunk.parse(bytes));

  test("of any byte is noticed, and named with the number of the chunk", () => {
    const bytes = whole();
    expect(read(bytes).values.length).toBeGreaterThan(1024);
    const random = randomFor("bytes");
    for (let at = 0; at < bytes.length; at++) {
      // The number and the format are read before the checksum; they are compared with the chunk before.
      if (at >= 8 && at < 16) continue;
      const spoilt = bytes.slice();
      spoilt[at]! ^= 1 + Math.floor(255 * random());
      let error: unknown;
      try {
        read(spoilt);
      } catch (thrown) {
        error = thrown;
      }
      const isNamed = error instanceof OrielError && error.message.startsWith("chunk 5 ");
      if (!isNamed) expect.fail(`byte ${at}: ${error}`);
    }
  });

  test("of any length is noticed", () => {
    const bytes = whole();
    for (let length = 64; length < bytes.length; length++)
      expect(() => read(bytes.slice(0, length)), `${length} bytes`).toThrow(/^chunk 5 /);
    expect(() => read(new Uint8Array([...bytes, 0]))).toThrow(/^chunk 5 has parts at impossible places/);
  });

  test("of any byte of an outline is noticed, however long it is", () => {
    const bytes = whole();
    const view = new DataView(bytes.buffer, 64);
    const places = [layout.SEALED_TOTALS_PLACE_AT, layout.SEALED_BLOCKS_PLACE_AT].map((at) => view.getUint32(at, true));
    for (const length of [64 + layout.SEALED_BYTES, ...places]) {
      expect(ChunkOutline.parse(bytes.slice(0, length)).count).toBeGreaterThan(1024);
      for (let at = 0; at < length; at++) {
        // A checksum counts if everything that it covers is here.
        if ((at >= 8 && at < 16) || (at >= 88 && at < 100 && length !== places[1])) continue;
        const spoilt = bytes.slice(0, length);
        spoilt[at]! ^= 16;
        expect(() => ChunkOutline.parse(spoilt), `byte ${at} of ${length}`).toThrow(OrielError);
      }
    }
  });

  test("of a raw chunk stops its sealing", () => {
    const chunk = madeChunk(randomFor("raw"), "uniform", 9);
    const cut = { ...chunk, bytes: chunk.bytes.slice(0, -1) };
    expect(() => inOneSlice(eventsOf(cut, new Dedupe()))).toThrow(/^chunk 5 has foreign bytes at byte \d+$/);
  });
});

test.each([16_385, 65_535])("a frame of %i events with times of their own keeps all of them", (count) => {
  const made = madeChunk(randomFor("large"), "uniform", 1, 0);
  const values = Float32Array.from({ length: count }, (_, i) => i % 1000);
  const times = Array.from(values, (_, i) => made.header.createdMs - (i % 5000));
  const { bytes } = encodeFrame(1, 1, values, times);
  const chunk = { header: made.header, bytes: new Uint8Array(Buffer.concat([made.bytes.subarray(0, 64), bytes])) };
  const found = decoded(
    SealedChunk.parse(inOneSlice(encodeSealed(plain.codec, plain.kernel, inOneSlice(eventsOf(chunk, new Dedupe()))))),
  );
  expect(found.times).toEqual(times);
  expect(found.values).toEqual([...values]);
});

test("a sealed form is compared with the bytes of its chunk", () => {
  const chunk = madeChunk(randomFor("exact"), "uniform", 40, 1);
  const events = inOneSlice(eventsOf(chunk, new Dedupe()));
  expect(
    inOneSlice(isExact(jsCodec, inOneSlice(encodeSealed(plain.codec, plain.kernel, events)), chunk, events.counted)),
  ).toBe(true);
  for (const [column, i] of [
    [events.times, 3],
    [events.values, 7],
  ] as const) {
    column[i]! += 1;
    expect(
      inOneSlice(isExact(jsCodec, inOneSlice(encodeSealed(plain.codec, plain.kernel, events)), chunk, events.counted)),
    ).toBe(false);
    column[i]! -= 1;
  }
  const short = { ...events, times: events.times.slice(1), values: events.values.slice(1) };
  expect(
    inOneSlice(isExact(jsCodec, inOneSlice(encodeSealed(plain.codec, plain.kernel, short)), chunk, events.counted)),
  ).toBe(false);
});

test("a chunk without events can be sealed", () => {
  const chunk = madeChunk(randomFor("copies"), "uniform", 3);
  const dedupe = new Dedupe();
  inOneSlice(admitFrames(chunk, dedupe));
  const sealed = SealedChunk.parse(
    inOneSlice(encodeSealed(plain.codec, plain.kernel, inOneSlice(eventsOf(chunk, dedupe)))),
  );
  expect([sealed.count, decoded(sealed).values]).toEqual([0, []]);
  expect(sealed.end.frame).toHaveLength(FRAME_HEADER_BYTES);
});

test("the checksum is MurmurHash3, whatever the parts", () => {
  // Values of the published implementation, with seed 0.
  const bytes = (text: string) => new TextEncoder().encode(text);
  expect(new Checksum().value).toBe(0);
  expect(new Checksum().add(bytes("test")).value).toBe(0xba6bd213);
  expect(new Checksum().add(bytes("Hello, world!")).value).toBe(0xc0363e43);
  expect(new Checksum().add(bytes("The quick brown fox jumps over the lazy dog")).value).toBe(0x2e4ff723);
  const text = bytes("The quick brown fox jumps over the lazy dog");
  for (let cut = 0; cut <= text.length; cut++)
    expect(
      new Checksum()
        .add(text.subarray(0, cut))
        .add(text.subarray(cut, cut + 3))
        .add(text.subarray(cut + 3)).value,
    ).toBe(0x2e4ff723);
});
