import { BLOCK_BYTES, BLOCK_VALUE_TYPE_AT, TOTALS_BYTES } from "../../../generated/layouts/block.ts";
import * as layout from "../../../generated/layouts/journal.ts";
import type { BlockHead } from "../../kernel/blocks/contract.ts";
import { readHead } from "../../kernel/blocks/head.ts";
import { HEADER_BYTES } from "../format/chunk.ts";
import { DamagedChunk } from "../steps/corrupt.ts";
import { CHECKSUM_BYTES, SEALED_FIXED_BYTES } from "./encode-chunk.ts";

/** Where the parts of a sealed chunk begin, in bytes from its first byte. */
export interface Places {
  blockCount: number;
  totalsAt: number;
  namesAt: number;
  blocksAt: number;
  /** Of the whole chunk. */
  sizeBytes: number;
}

/** The head of a block, and where its other parts lie. */
export interface PlacedBlock {
  readonly head: BlockHead;
  readonly headBytes: Uint8Array;
  /** Of its body, order and times. */
  readonly checksum: number;
  /** Where its body, order and times begin in the chunk. */
  readonly at: number;
}

/** `bytes`: at least the fixed part of a sealed chunk. Undefined if the parts overlap or lie outside the chunk. */
export function placesOf(bytes: Uint8Array): Places | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset + HEADER_BYTES, layout.SEALED_BYTES);
  const blockCount = view.getUint32(layout.SEALED_BLOCK_COUNT_AT, true);
  const totalsAt = view.getUint32(layout.SEALED_TOTALS_PLACE_AT, true);
  const namesAt = view.getUint32(layout.SEALED_NAMES_PLACE_AT, true);
  const blocksAt = view.getUint32(layout.SEALED_BLOCKS_PLACE_AT, true);
  const sizeBytes = view.getUint32(layout.SEALED_SIZE_BYTES_AT, true);
  const isOrdered =
    SEALED_FIXED_BYTES + (BLOCK_BYTES + CHECKSUM_BYTES) * blockCount <= totalsAt &&
    totalsAt + TOTALS_BYTES * blockCount === namesAt &&
    namesAt <= blocksAt &&
    blocksAt <= sizeBytes;
  return isOrdered ? { blockCount, totalsAt, namesAt, blocksAt, sizeBytes } : undefined;
}

/** `bytes`: a sealed chunk as far as the place of its totals, or more. `valueType`: that of its blocks. Throws CORRUPT. */
export function placedBlocks(bytes: Uint8Array, places: Places, number: number, valueType: number): PlacedBlock[] {
  const { blockCount, totalsAt, blocksAt, sizeBytes } = places;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const checksumsAt = totalsAt - CHECKSUM_BYTES * blockCount;
  let headAt = SEALED_FIXED_BYTES;
  let at = blocksAt;
  let count = 0;
  const blocks = Array.from({ length: blockCount }, (_, i): PlacedBlock => {
    const head = readHead(bytes.subarray(headAt, checksumsAt));
    if (bytes[headAt + BLOCK_VALUE_TYPE_AT] !== valueType)
      throw new DamagedChunk(number, `has a damaged block ${i}: it has another value type`);
    const headBytes = bytes.subarray(headAt, headAt + head.headBytes);
    const block = { head, headBytes, checksum: view.getUint32(checksumsAt + CHECKSUM_BYTES * i, true), at };
    count += head.count;
    headAt += head.headBytes;
    at += head.bodyBytes + head.orderBytes + head.timesBytes;
    return block;
  });
  if (headAt !== checksumsAt || at !== sizeBytes) throw new DamagedChunk(number, "has blocks of other lengths");
  if (count !== view.getUint32(HEADER_BYTES + layout.SEALED_COUNT_AT, true))
    throw new DamagedChunk(number, "has other events");
  return blocks;
}

/** The totals of block `i`. `bytes`: a sealed chunk as far as the place of its names, or more. */
export function totalsBytesOf(bytes: Uint8Array, { totalsAt }: Places, i: number): Uint8Array {
  return bytes.subarray(totalsAt + TOTALS_BYTES * i, totalsAt + TOTALS_BYTES * (i + 1));
}
