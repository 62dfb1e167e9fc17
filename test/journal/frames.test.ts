import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  encodeFrame,
  type FrameParts,
  frameSize,
  hasOwnTimes,
  readFrame,
} from "../../src/engine/journal/format/frames.ts";
import { Batch } from "../../src/engine/series/session/batch.ts";

const blank = (): FrameParts => ({
  ...{ size: 0, count: 0, producer: 0, sequence: 0, sinceCreationMs: 0, baseAt: 0, valuesAt: 0 },
});
const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const columnOf = (valueType: number, values: number[]) =>
  valueType === 1 ? Float64Array.from(values) : Float32Array.from(values);

/** The contents of a frame, read by the layout alone. */
function decoded(bytes: Uint8Array, at: number, valueType: number) {
  const view = viewOf(bytes);
  const parts = blank();
  const found = readFrame(view, at, valueType, parts);
  const times: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < parts.count; i++) {
    if (parts.baseAt >= 0)
      times.push(view.getFloat64(parts.baseAt, true) + view.getUint32(parts.baseAt + 8 + 4 * i, true));
    values.push(
      valueType === 1 ? view.getFloat64(parts.valuesAt + 8 * i, true) : view.getFloat32(parts.valuesAt + 4 * i, true),
    );
  }
  return { found, parts, times, values };
}

describe.each([
  ["f32", 0],
  ["f64", 1],
])("a frame of %s", (_name, valueType) => {
  const counts = [...Array.from({ length: 70 }, (_, i) => i + 1), 255, 256, 65_535];

  test.each([false, true])("is read as written, for any count (own times: %s)", (dated) => {
    for (const count of counts) {
      const values = columnOf(
        valueType,
        Array.from({ length: count }, (_, i) => (i % 7) - i / 3),
      );
      const times = Array.from({ length: count }, (_, i) => 1.7e12 + ((i * 7919) % 5000));
      const { bytes, earliestMs, latestMs } = encodeFrame(0xfedc_ba98, 2 ** 32 - 1, values, dated ? times : undefined);
      expect(bytes.length).toBe(frameSize(valueType, count, dated));
      expect(hasOwnTimes(bytes)).toBe(dated);
      const { found, parts, ...read } = decoded(bytes, 0, valueType);
      expect(found).toBe("whole");
      expect(parts).toMatchObject({ size: bytes.length, count, producer: 0xfedc_ba98, sequence: 2 ** 32 - 1 });
      expect(read.values).toEqual([...values]);
      expect(read.times).toEqual(dated ? times : []);
      expect([earliestMs, latestMs]).toEqual(dated ? [Math.min(...times), Math.max(...times)] : [0, 0]);
    }
  });

  test("has f64 values at a multiple of 8, after zeros", () => {
    for (const count of counts.slice(0, 70)) {
      const { bytes } = encodeFrame(1, 1, columnOf(valueType, new Array(count).fill(-1)), new Array(count).fill(5));
      const { parts } = decoded(bytes, 0, valueType);
      if (valueType === 1) expect(parts.valuesAt % 8).toBe(0);
      expect(bytes.subarray(24 + 4 * count, parts.valuesAt).every((byte) => byte === 0)).toBe(true);
      expect(parts.size - parts.valuesAt).toBe(count * (valueType === 1 ? 8 : 4));
    }
  });

  test("is not read if it is cut anywhere, at any place in memory", () => {
    for (const times of [undefined, [3, 1, 2]]) {
      const { bytes } = encodeFrame(7, 9, columnOf(valueType, [1, 2, 3]), times);
      for (let shift = 0; shift < 8; shift++) {
        const memory = new Uint8Array(bytes.length + 16).fill(0xee);
        memory.set(bytes, shift);
        for (let length = 0; length < bytes.length; length++)
          expect(decoded(memory.subarray(shift, shift + length), 0, valueType).found).toBe("cut");
        expect(decoded(memory.subarray(0, shift + bytes.length), shift, valueType).values).toEqual([1, 2, 3]);
      }
    }
  });

  test("is distinguished from foreign bytes: another format, another type, unknown flags, no events", () => {
    const { bytes } = encodeFrame(7, 9, columnOf(valueType, [1, 2, 3]));
    const other = (change: (copy: Uint8Array) => void) => {
      const copy = bytes.slice();
      change(copy);
      return decoded(copy, 0, valueType).found;
    };
    expect(decoded(bytes, 0, 1 - valueType).found).toBe("foreign");
    for (let format = 0; format < 16; format++)
      expect(other((copy) => (copy[0] = (format << 4) | valueType))).toBe(format === 1 ? "whole" : "foreign");
    expect(other((copy) => (copy[0]! |= 4))).toBe("foreign");
    expect(other((copy) => (copy[0]! |= 8))).toBe("foreign");
    expect(other((copy) => copy.fill(0, 2, 4))).toBe("foreign");
  });
});

test("any sequence of frames is read one after the other", () => {
  const frame = fc.record({
    values: fc.array(fc.double(), { minLength: 1, maxLength: 40 }),
    span: fc.option(fc.integer({ min: 0, max: 2 ** 32 - 1 })),
    base: fc.integer({ min: -(2 ** 52), max: 2 ** 52 }),
    sequence: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 8 }), fc.constantFrom(0, 1), (frames, valueType) => {
      const encoded = frames.map(({ values, span, base, sequence }) => {
        const times = span === null ? undefined : values.map((_, i) => base + (i === 1 ? span : 0));
        return { times, column: columnOf(valueType, values), sequence, encode: () => times };
      });
      const parts = encoded.map(({ column, sequence, times }) => encodeFrame(5, sequence, column, times).bytes);
      const all = Buffer.concat(parts);
      let at = 0;
      for (const { column, sequence, times } of encoded) {
        const { found, parts: read, ...rest } = decoded(all, at, valueType);
        expect(found).toBe("whole");
        expect(rest).toEqual({ values: [...column], times: times ?? [] });
        expect(read.sequence).toBe(sequence);
        at += read.size;
      }
      expect(decoded(all, at, valueType).found).toBe("cut");
    }),
  );
});

describe("a dated call", () => {
  const framesOf = (times: number[]) => {
    const batch = new Batch(1, { valueType: 0, written: new Set() });
    batch.addDated(Float32Array.from(times.keys()), Float64Array.from(times)).catch(() => {});
    let sequence = 0;
    return batch.frames(1, () => ++sequence).map(({ bytes }) => decoded(bytes, 0, 0));
  };

  test("is one frame if its times lie at most 2^32 - 1 ms apart, and split above", () => {
    const far = 2 ** 32 - 1;
    expect(framesOf([0, far]).map(({ times }) => times)).toEqual([[0, far]]);
    expect(framesOf([far, 0]).map(({ times }) => times)).toEqual([[far, 0]]);
    expect(framesOf([0, far + 1]).map(({ times }) => times)).toEqual([[0], [far + 1]]);
    expect(framesOf([5, far + 6, 6, 5]).map(({ times }) => times)).toEqual([[5], [far + 6, 6], [5]]);
    expect(framesOf([-far, 0, 1]).map(({ times }) => times)).toEqual([[-far, 0], [1]]);
  });

  test("is split at 65 535 events", () => {
    const times = Array.from({ length: 140_000 }, (_, i) => i % 100);
    const frames = framesOf(times);
    expect(frames.map(({ parts }) => parts.count)).toEqual([65_535, 65_535, 8930]);
    expect(frames.flatMap((frame) => frame.values).every((value, i) => value === i)).toBe(true);
  });
});
