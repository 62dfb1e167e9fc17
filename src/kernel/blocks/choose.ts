import { activeKernel } from "../choose.ts";
import type { BlockCodec } from "./contract.ts";
import { jsCodec } from "./js/js-codec.ts";

let create: (() => BlockCodec) | undefined;
let started: BlockCodec | undefined;

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

/**
 * The codec of blocks: in WebAssembly if it was provided, the active kernel uses SIMD, and the module starts here; else in
 * JavaScript. The first call starts it.
 */
export function activeBlocks(): BlockCodec {
  if (!create || activeKernel().name !== "wasm-simd") return jsCodec;
  started ??= startedOrJs(create);
  return started;
}

function startedOrJs(codec: () => BlockCodec): BlockCodec {
  try {
    return codec();
  } catch {
    // The runtime allows no compilation here.
    return jsCodec;
  }
}
