import { describe, expect, test } from "vitest";
import { externalBytes } from "../../bench/external-bytes.ts";
import { FrameNames } from "../../src/engine/journal/format/frame-names.ts";
import { heldBytes } from "../harness/heap.ts";
import { Random } from "../simulator/world/random.ts";

test("all frames, of one producer or of many, are found with their last stamp", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = new Random(seed);
    const producers = Array.from({ length: random.pick([1, 5, 3000]) }, () => random.u32());
    const names = new FrameNames();
    const plain = new Map<string, number>();
    for (let i = 0; i < 4000; i++) {
      const producer = random.pick(producers);
      const sequence = random.pick([random.int(0, 100), random.u32()]);
      const expected = plain.get(`${producer}:${sequence}`) ?? Number.NEGATIVE_INFINITY;
      if (names.stampOf(producer, sequence) !== expected) expect.fail(`seed ${seed}: ${producer}:${sequence}`);
      names.set(producer | 0, sequence | 0, i);
      plain.set(`${producer}:${sequence}`, i);
    }
    const found = new Map<string, number>();
    let count = 0;
    names.some((producer, sequence, stampMs) => {
      found.set(`${producer >>> 0}:${sequence >>> 0}`, stampMs);
      count++;
      return false;
    });
    expect(count).toBe(plain.size);
    expect(found).toEqual(plain);
  }
});

test("producers with one frame take at most 48 bytes each", async () => {
  const COUNT = 150_000;
  const before = (await externalBytes()) + process.memoryUsage().heapUsed;
  const names = new FrameNames();
  for (let i = 0; i < COUNT; i++) names.set(Math.imul(i, 0x9e3779b1), Math.imul(i, 40_503), 1);
  const bytes = (await externalBytes()) + process.memoryUsage().heapUsed - before;
  expect(bytes / COUNT).toBeLessThan(60);
  expect(names.stampOf(Math.imul(7, 0x9e3779b1), Math.imul(7, 40_503))).toBe(1);
});

describe("the size of names equals their size in the heap", () => {
  test.each([
    ["one frame of each of many producers", 60_000, 1, 1],
    ["two frames, far apart, of each of many producers", 6000, 2, 999_983],
    ["frames in a row of some producers", 50, 4000, 1],
    ["frames far apart of one producer", 1, 6000, 999_983],
  ])("%s", async (_what, producers, frames, step) => {
    const before = await heldBytes();
    const names = new FrameNames();
    for (let i = 0; i < producers; i++)
      for (let j = 0; j < frames; j++) names.set(Math.imul(i, 0x9e3779b1), Math.imul(j, step), 1.5);
    const ratio = ((await heldBytes()) - before) / names.sizeBytes;
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(1.5);
    expect(names.isEmpty).toBe(false);
  });
});
