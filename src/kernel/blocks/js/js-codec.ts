import type { BlockCodec } from "../contract.ts";
import { decodeAll, decodeSome } from "./decode.ts";
import { encode } from "./encode.ts";
import { decodeTimes, encodeTimes } from "./times.ts";

/** The codec in JavaScript. Its loops state the same law as those in assembly/blocks, and write the same bytes. */
export const jsCodec: BlockCodec = {
  name: "js",
  encode,
  decodeGroups: decodeSome,
  decode: decodeAll,
  encodeTimes,
  decodeTimes,
};
