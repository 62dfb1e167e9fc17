import { MAX_IN_BLOCK } from "../../../generated/layouts/block.ts";
import type { BlockCodec } from "../contract.ts";
import { decodeAll, decodeLadder, decodeSome } from "./decode.ts";
import { encode } from "./encode.ts";
import { encodeGroups, encodeSamples } from "./ladder.ts";

const ladderBytes = new Uint8Array(8 * MAX_IN_BLOCK);
const ladderView = new DataView(ladderBytes.buffer);

/** The codec in JavaScript. Its loops state the same law as those in assembly/blocks, and write the same bytes. */
export const jsCodec: BlockCodec = {
  name: "js",
  encode,
  decodeGroups: decodeSome,
  decode: decodeAll,
  decodeLadder,
  encodeLadder(numbers) {
    ladderBytes.fill(0);
    const groups = encodeSamples(numbers, numbers.length, ladderView, 0);
    return ladderBytes.subarray(0, encodeGroups(numbers, numbers.length, numbers, 0, ladderView, groups));
  },
};
