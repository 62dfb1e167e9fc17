import type { BlockCodec } from "../contract.ts";
import { jsDecoder } from "./decode.ts";
import { encode } from "./encode.ts";
import { encodeTimes } from "./times.ts";

/** The codec in JavaScript. Its loops state the same law as those in assembly/blocks, and write the same bytes. */
export const jsCodec: BlockCodec = { ...jsDecoder, encode, encodeTimes };
