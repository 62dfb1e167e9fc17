import { runKernel } from "../choose.ts";
import type { BlockCodec, BlockDecoder, PairCodec } from "./contract.ts";
import { jsDecoder } from "./js/decode.ts";

let create: (() => BlockCodec) | undefined;
let started: BlockCodec | undefined;
let pairs: PairCodec | undefined;

/** Provides the codec in WebAssembly. Called by entry files, which know what their runtime can compile. */
export function provideBlocks(codec: (() => BlockCodec) | undefined): void {
  create ??= codec;
}

/**
 * Provides the codec, and returns `user`. Callers mark the call as pure. A bundler then drops an unused `user` together with the
 * codec.
 */
export function withBlocks<User>(user: User, codec: (() => BlockCodec) | undefined): User {
  provideBlocks(codec);
  return user;
}

/** The codec of blocks in WebAssembly, if it was provided, the active kernel uses SIMD, and it starts here. The first call starts it. */
export function wasmBlocks(): BlockCodec | undefined {
  if (!create || runKernel().name !== "wasm-simd") return undefined;
  try {
    started ??= create();
  } catch {
    create = undefined; // The runtime allows no compilation here.
  }
  return started;
}

/** Decodes blocks: in WebAssembly, else in JavaScript. */
export function activeBlocks(): BlockDecoder {
  return wasmBlocks() ?? jsDecoder;
}

/** Provides the codec of pairs. Structures with groups call it before they read or seal. */
export function providePairs(codec: PairCodec | undefined): void {
  pairs = codec;
}

export function givenPairs(): PairCodec | undefined {
  return pairs;
}
