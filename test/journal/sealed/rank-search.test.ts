// Numbers by rank from the heads of blocks and few groups, against all values sorted.
import { describe, expect, test } from "vitest";
import "../../../src/entries/index.ts";
import { encodeSealed, SEALED_FIXED_BYTES } from "../../../src/engine/journal/sealed/encode-chunk.ts";
import { ChunkOutline } from "../../../src/engine/journal/sealed/outline.ts";
import { RankSearch } from "../../../src/engine/journal/sealed/rank-search.ts";
import { decodeValues } from "../../../src/engine/kernel/blocks/block.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import type { Column } from "../../../src/engine/kernel/contract.ts";
import { js } from "../../../src/engine/kernel/js/js.ts";
import * as layout from "../../../src/generated/layouts/journal.ts";
import { valuesOf } from "../../kernel/blocks/shapes.ts";
import { randomOf } from "../../kernel/columns.ts";
import { inOneSlice } from "./in-one-slice.ts";
import { CREATED_MS, headerOf, SHAPES } from "./raw-chunks.ts";

const kernel = js.create();
const SEED = 20_261_124;

function sealedOf(values: Column): Uint8Array {
  const header = headerOf(values instanceof Float64Array ? 1 : 0, CREATED_MS);
  const end = { number: 5, birth: 77, length: 64 + values.byteLength, place: 0, frame: new Uint8Array(16) };
  const chunk = { header, end, times: new Float64Array(values.length), values, named: [] };
  return inOneSlice(encodeSealed(jsCodec, kernel, chunk));
}

function outlineOf(bytes: Uint8Array): ChunkOutline {
  const totalsAt = new DataView(bytes.buffer).getUint32(64 + layout.SEALED_TOTALS_PLACE_AT, true);
  return ChunkOutline.parse(bytes.subarray(0, totalsAt));
}

describe.each([
  ["f32", Float32Array],
  ["f64", Float64Array],
] as const)("%s", (_name, Type) => {
  test.each(SHAPES)("%s: every rank, by the guess or by the sure bracket", (shape) => {
    const random = randomOf(SEED);
    for (const count of [1, 31, 33, 1024, 9000]) {
      const values = valuesOf(shape, Type, count, random);
      const known = valuesOf(shape, Type, 500, random)
        .filter((x) => !Number.isNaN(x))
        .sort();
      const bytes = sealedOf(values);
      const search = new RankSearch();
      search.addKnown(known);
      for (const block of outlineOf(bytes).blocks) search.addBlock(block);
      for (const { head, headBytes, at } of search.unsearched) {
        const body = bytes.subarray(at, at + head.bodyBytes);
        const whole = new Type(head.count);
        decodeValues(jsCodec, head, { head: headBytes, body }, whole);
        search.addKnown(whole.filter((x) => !Number.isNaN(x)).sort());
      }
      const sorted = Float64Array.from([...values, ...known].filter((x) => !Number.isNaN(x))).sort();
      for (const share of [0, 0.001, 0.3, 0.5, 0.9, 0.99, 1]) {
        const from = Math.floor(share * (sorted.length - 1));
        const to = Math.min(sorted.length - 1, from + 4);
        let found: Column | undefined;
        for (const isSure of [false, true]) {
          const bracket = search.bracket(from, to, search.unsearched.length * 1024, isSure);
          for (const { block, groups } of search.missingIn([bracket]))
            search.addGroups(
              jsCodec,
              block,
              groups,
              bytes.subarray(block.at + groups.from, block.at + groups.from + groups.length),
            );
          found = search.numbersAt(bracket, from, to) ?? found;
          if (isSure) expect(found, `${shape} ${count} ${share}`).toBeDefined();
        }
        expect(Array.from(found!, sign), `${count} values, rank ${from}`).toEqual(
          [...sorted.subarray(from, to + 1)].map(sign),
        );
      }
    }
  });
});

test("guesses about many blocks are right, and need about a group of each block", () => {
  const random = randomOf(SEED);
  const values = valuesOf("lognormal", Float32Array, 200 * 1024, random);
  const bytes = sealedOf(values);
  const sorted = Float64Array.from(values).sort();
  const groupsOf = (share: number, isSure: boolean) => {
    const search = new RankSearch();
    for (const block of outlineOf(bytes).blocks) search.addBlock(block);
    const from = Math.floor(share * (sorted.length - 1));
    const bracket = search.bracket(from, from + 1, 0, isSure);
    let count = 0;
    for (const { block, groups } of search.missingIn([bracket])) {
      search.addGroups(
        jsCodec,
        block,
        groups,
        bytes.subarray(block.at + groups.from, block.at + groups.from + groups.length),
      );
      count += groups.last - groups.first;
    }
    expect([...search.numbersAt(bracket, from, from + 1)!], `${share}`).toEqual([...sorted.subarray(from, from + 2)]);
    return count;
  };
  for (const [share, most] of [
    [0.5, 1.4],
    [0.9, 1.4],
    [0.99, 1.2],
  ] as const) {
    const guessed = groupsOf(share, false);
    expect(guessed, `p${100 * share}`).toBeLessThan(most * 200);
    expect(guessed).toBeLessThan(groupsOf(share, true));
  }
});

const sign = (x: number) => (Object.is(x, -0) ? "-0" : x);

test("an outline that ends elsewhere is refused", () => {
  const bytes = sealedOf(Float32Array.from({ length: 2000 }, (_, i) => i));
  expect(ChunkOutline.parse(bytes.subarray(0, SEALED_FIXED_BYTES)).blocks).toEqual([]);
  expect(() => ChunkOutline.parse(bytes.subarray(0, SEALED_FIXED_BYTES + 1))).toThrow(
    /^chunk 5 has parts at impossible places/,
  );
  expect(() => ChunkOutline.parse(bytes.subarray(0, 100))).toThrow(/^chunk 5 has 100 bytes/);
});
