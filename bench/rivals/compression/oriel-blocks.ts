import { decodeValues, encodeBlock, partsOf } from "../../../src/engine/kernel/blocks/block.ts";
import type { SomeParts } from "../../../src/engine/kernel/blocks/contract.ts";
import { readHead } from "../../../src/engine/kernel/blocks/head.ts";
import { jsCodec } from "../../../src/engine/kernel/blocks/js/js-codec.ts";
import { decodeTimes } from "../../../src/engine/kernel/blocks/times.ts";
import { readTotals } from "../../../src/engine/kernel/blocks/totals.ts";
import { wasmCodec } from "../../../src/engine/kernel/blocks/wasm-codec.ts";
import { js } from "../../../src/engine/kernel/js/js.ts";
import { wasmSimd } from "../../../src/engine/kernel/wasm/wasm-simd.ts";
import { MAX_IN_BLOCK } from "../../../src/generated/layouts/block.ts";
import type { Compressor } from "./compressor.ts";

/** Blocks of 1024 events, each in its five parts. */
export function orielBlocks(form: "js" | "wasm-simd"): Compressor {
  const codec = form === "js" ? jsCodec : wasmCodec();
  const kernel = (form === "js" ? js : wasmSimd).create();

  function decodeEach(stored: Uint8Array[], values: Float32Array, choose: (parts: SomeParts) => SomeParts): void {
    for (const [i, block] of stored.entries()) {
      const head = readHead(block);
      const parts = partsOf(block, head);
      const from = i * MAX_IN_BLOCK;
      decodeValues(codec, head, choose(parts), values.subarray(from, from + head.count));
    }
  }

  return {
    name: `oriel blocks, ${form}`,
    encode(times, values) {
      const blocks: Uint8Array[] = [];
      for (let from = 0; from < times.length; from += MAX_IN_BLOCK) {
        const to = Math.min(times.length, from + MAX_IN_BLOCK);
        const { head } = encodeBlock(codec, kernel, times.subarray(from, to), values.subarray(from, to));
        // The parts follow each other.
        blocks.push(new Uint8Array(head.buffer));
      }
      return blocks;
    },
    decode(stored, times, values) {
      for (const [i, block] of stored.entries()) {
        const head = readHead(block);
        const parts = partsOf(block, head);
        const from = i * MAX_IN_BLOCK;
        decodeValues(codec, head, parts, values.subarray(from, from + head.count));
        const { earliestMs } = readTotals(head, parts.totals);
        decodeTimes(codec, head, earliestMs, parts.times, times.subarray(from, from + head.count));
      }
    },
    decodeValues: (stored, values) => decodeEach(stored, values, (parts) => parts),
    decodeSorted: (stored, values) => decodeEach(stored, values, ({ head, body }) => ({ head, body })),
  };
}
