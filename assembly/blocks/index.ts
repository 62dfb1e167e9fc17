// The codec of blocks, a module of its own. README.md describes a block. The exports are pinned by test/kernel/blocks/module.test.ts.
import { arrange } from "./arrange";
import { encodeValues } from "./encode";

export { prepare } from "./bits";
export { decodeValues32, decodeValues64 } from "./decode";
export { decodeTimes, encodeTimes } from "./times";

/** Each encodes `count` values at ARRIVAL to the places of an encoder. */
export function encode32(count: u32): void {
  encodeValues<u32>(count);
}

export function encode64(count: u32): void {
  encodeValues<u64>(count);
}

/** Each returns the address of `count` values in order of arrival, or 0. `order`: the address of their order. */
export function arrange32(order: usize, count: u32): usize {
  return arrange<u32>(order, count);
}

export function arrange64(order: usize, count: u32): usize {
  return arrange<u64>(order, count);
}
