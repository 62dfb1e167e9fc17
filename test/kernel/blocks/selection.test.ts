// Exact percentiles of many blocks from their heads and about one group of each: the bytes that a reader needs.
import { expect, test } from "vitest";
import { decodeGroups, encodeBlock, outlineOf } from "../../../src/engine/kernel/blocks/block.ts";
import type { BlockParts, Outline } from "../../../src/engine/kernel/blocks/contract.ts";
import { readHead } from "../../../src/engine/kernel/blocks/head.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { js } from "../../../src/engine/kernel/js/js.ts";
import { GROUP, MAX_IN_BLOCK } from "../../../src/generated/layouts/block.ts";
import { randomOf } from "../columns.ts";
import { valuesOf } from "./shapes.ts";

const BLOCKS = 300;
const kernel = js.create();

interface Read {
  parts: BlockParts;
  outline: Outline;
}

/** The last group whose smallest value passes, or the first group. */
function lastGroup({ least }: Outline, passes: (value: number) => boolean): number {
  let group = 0;
  while (group + 1 < least.length && passes(least[group + 1]!)) group++;
  return group;
}

/** The value at `rank` (from 0), and the bytes of the groups that were read. */
function select(blocks: readonly Read[], rank: number): { value: number; bytes: number } {
  // A sample stands for a group, of which half lies above a value. The error of each block is 0.29 groups (standard deviation).
  const samples = Float64Array.from(blocks.flatMap(({ outline }) => [...outline.least])).sort();
  const middle = rank / GROUP + blocks.length / 2;
  const margin = 6 * 0.29 * Math.sqrt(blocks.length);
  // Among the last groups only the bound holds that 32 values stand for a sample.
  const isLast = middle + margin >= samples.length;
  const low = samples[Math.max(0, Math.floor(isLast ? rank / GROUP : middle - margin))]!;
  const high = isLast ? Number.POSITIVE_INFINITY : samples[Math.ceil(middle + margin)]!;
  let below = 0;
  let bytes = 0;
  const inside: number[] = [];
  for (const { parts, outline } of blocks) {
    const first = lastGroup(outline, (value) => value < low);
    const last = lastGroup(outline, (value) => value <= high) + 1;
    const body = parts.body.subarray(outline.places[first], outline.places[last]);
    bytes += body.length;
    below += first * GROUP;
    for (const value of decodeGroups(jsCodec, readHead(parts.head), parts.head, body, first, last))
      if (value < low) below++;
      else if (value <= high) inside.push(value);
  }
  expect(rank).toBeGreaterThanOrEqual(below);
  expect(rank).toBeLessThan(below + inside.length);
  return { value: Float64Array.from(inside).sort()[rank - below]!, bytes };
}

test.each([
  ["lognormal to 1 us", 240_000],
  ["lognormal", 400_000],
])("%s: a million events need at most %i bytes for p50, p90 and p99", (shape, maxBytes) => {
  const random = randomOf(77);
  const values = valuesOf(shape, Float32Array, BLOCKS * MAX_IN_BLOCK, random);
  const times = new Float64Array(MAX_IN_BLOCK);
  const blocks = Array.from({ length: BLOCKS }, (_, i): Read => {
    const parts = encodeBlock(jsCodec, kernel, times, values.subarray(i * MAX_IN_BLOCK, (i + 1) * MAX_IN_BLOCK));
    return { parts, outline: outlineOf(readHead(parts.head), parts.head) };
  });
  const sorted = values.slice().sort();
  let bytes = blocks.reduce((sum, { parts }) => sum + parts.head.length, 0);
  for (const share of [0.5, 0.9, 0.99]) {
    const rank = Math.floor(share * (values.length - 1));
    const selected = select(blocks, rank);
    expect(selected.value).toBe(sorted[rank]);
    bytes += selected.bytes;
  }
  const ofMillion = (bytes / values.length) * 1e6;
  console.info(`${shape}: ${Math.round(ofMillion)} bytes for a million events`);
  expect(ofMillion).toBeLessThanOrEqual(maxBytes);
});
