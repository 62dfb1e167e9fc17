import { MAX_IN_BLOCK, TOTALS_BYTES } from "../../../generated/layouts/block.ts";
import * as layout from "../../../generated/layouts/journal.ts";
import { encodeBlock } from "../../kernel/blocks/block.ts";
import { givenPairs } from "../../kernel/blocks/choose.ts";
import type { BlockCodec, BlockParts } from "../../kernel/blocks/contract.ts";
import type { Column, Kernel, Summary } from "../../kernel/contract.ts";
import type { Known } from "../format/answer.ts";
import { type ChunkHeader, HEADER_BYTES, writeHeader } from "../format/chunk.ts";
import { constants, VALUE_PAIR } from "../format/constants.ts";
import { Checksum } from "./checksum.ts";
import { encodeNames, type NamedFrame } from "./names.ts";

/** The events of a chunk, and what else its sealed form needs. */
export interface ChunkEvents {
  /** The header of the chunk before it is sealed. */
  header: ChunkHeader;
  /** The end of that chunk. */
  end: Known;
  /** In the order of the journal, without copies. */
  times: Float64Array;
  values: Column;
  /** The last frames that counted. A later chunk may have copies of them. */
  named: readonly NamedFrame[];
}

/** Where the header and the record SEALED end. */
export const SEALED_FIXED_BYTES = HEADER_BYTES + layout.SEALED_BYTES;
const CHECKSUM_AT = HEADER_BYTES + layout.SEALED_CHECKSUM_AT;
const COUNT_AT = HEADER_BYTES + layout.SEALED_COUNT_AT;
/** Of one block's checksum. */
export const CHECKSUM_BYTES = 4;

/** Blocks that one slice encodes: some 0.2 ms with WebAssembly. */
const SLICE_BLOCKS = 4;

/** Encodes a chunk in its sealed form (lua/README.md), in slices. Cost: 20 to 40 ns an event with WebAssembly, 100 ns without. */
export function* encodeSealed(codec: BlockCodec, kernel: Kernel, chunk: ChunkEvents): Generator<void, Uint8Array> {
  const blocks: BlockParts[] = [];
  const pairs = chunk.header.valueType === VALUE_PAIR ? givenPairs() : undefined;
  const encode = pairs?.encode ?? encodeBlock;
  for (let from = 0; from < chunk.values.length; from += MAX_IN_BLOCK) {
    const to = Math.min(from + MAX_IN_BLOCK, chunk.values.length);
    blocks.push(encode(codec, kernel, chunk.times.slice(from, to), chunk.values.slice(from, to)));
    if (blocks.length % SLICE_BLOCKS === 0) yield;
  }
  const names = encodeNames(chunk.named);
  const headBytes = blocks.reduce((sum, { head }) => sum + head.length, 0);
  const totalsAt = SEALED_FIXED_BYTES + headBytes + CHECKSUM_BYTES * blocks.length;
  const namesAt = totalsAt + TOTALS_BYTES * blocks.length;
  const blocksAt = namesAt + names.length;
  const parts = blocks.flatMap(({ head }) => [head]);
  parts.push(checksumsOf(blocks), ...blocks.map(({ totals }) => totals), names);
  for (const { body, order, times } of blocks) parts.push(body, order, times);
  const sizeBytes = SEALED_FIXED_BYTES + parts.reduce((sum, part) => sum + part.length, 0);
  const bytes = new Uint8Array(sizeBytes);
  let at = SEALED_FIXED_BYTES;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  writeHeader(bytes, { ...chunk.header, format: constants.sealedFormat });
  const places = { blocks: blocks.length, totalsAt, namesAt, blocksAt, sizeBytes };
  const summary = kernel.summary(pairs?.valuesOf(chunk.values) ?? chunk.values);
  writeRecord(new DataView(bytes.buffer, HEADER_BYTES), summary, chunk, places);
  const record = new DataView(bytes.buffer, HEADER_BYTES);
  record.setUint32(layout.SEALED_RECORD_CHECKSUM_AT, recordChecksum(bytes), true);
  record.setUint32(layout.SEALED_HEADS_CHECKSUM_AT, headsChecksum(bytes, totalsAt), true);
  record.setUint32(layout.SEALED_CHECKSUM_AT, checksumOf(bytes, blocksAt), true);
  return bytes;
}

/** Of the header and the record SEALED, without the checksums themselves. */
export function recordChecksum(bytes: Uint8Array): number {
  return new Checksum().add(bytes.subarray(0, CHECKSUM_AT)).add(bytes.subarray(COUNT_AT, SEALED_FIXED_BYTES)).value;
}

/** Of the heads and the checksums of the blocks. */
export function headsChecksum(bytes: Uint8Array, totalsAt: number): number {
  return new Checksum().add(bytes.subarray(SEALED_FIXED_BYTES, totalsAt)).value;
}

/** Of everything before the blocks, except for itself. */
export function checksumOf(bytes: Uint8Array, blocksAt: number): number {
  return new Checksum().add(bytes.subarray(0, CHECKSUM_AT)).add(bytes.subarray(CHECKSUM_AT + CHECKSUM_BYTES, blocksAt))
    .value;
}

function checksumsOf(blocks: readonly BlockParts[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(CHECKSUM_BYTES * blocks.length));
  for (const [i, { body, order, times }] of blocks.entries())
    view.setUint32(CHECKSUM_BYTES * i, new Checksum().add(body).add(order).add(times).value, true);
  return new Uint8Array(view.buffer);
}

interface Places {
  blocks: number;
  totalsAt: number;
  namesAt: number;
  blocksAt: number;
  sizeBytes: number;
}

function writeRecord(view: DataView, summary: Summary, { end, times, values }: ChunkEvents, places: Places): void {
  let earliestMs = Number.POSITIVE_INFINITY;
  let latestMs = Number.NEGATIVE_INFINITY;
  for (const ms of times) {
    if (ms < earliestMs) earliestMs = ms;
    if (ms > latestMs) latestMs = ms;
  }
  view.setUint32(layout.SEALED_RAW_LENGTH_AT, end.length, true);
  view.setUint32(layout.SEALED_RAW_PLACE_AT, end.place, true);
  new Uint8Array(view.buffer, view.byteOffset + layout.SEALED_RAW_FRAME_AT, end.frame.length).set(end.frame);
  view.setUint32(layout.SEALED_COUNT_AT, values.length, true);
  view.setUint32(layout.SEALED_BLOCK_COUNT_AT, places.blocks, true);
  view.setUint32(layout.SEALED_TOTALS_PLACE_AT, places.totalsAt, true);
  view.setUint32(layout.SEALED_NAMES_PLACE_AT, places.namesAt, true);
  view.setUint32(layout.SEALED_BLOCKS_PLACE_AT, places.blocksAt, true);
  view.setUint32(layout.SEALED_SIZE_BYTES_AT, places.sizeBytes, true);
  view.setFloat64(layout.SEALED_EARLIEST_MS_AT, earliestMs, true);
  view.setFloat64(layout.SEALED_LATEST_MS_AT, latestMs, true);
  view.setFloat64(layout.SEALED_MIN_AT, summary.min, true);
  view.setFloat64(layout.SEALED_MAX_AT, summary.max, true);
  view.setFloat64(layout.SEALED_SUM_HIGH_AT, summary.sumHigh, true);
  view.setFloat64(layout.SEALED_SUM_LOW_AT, summary.sumLow, true);
  view.setFloat64(layout.SEALED_M2_AT, summary.m2, true);
  view.setUint32(layout.SEALED_NAN_COUNT_AT, summary.nanCount, true);
  view.setUint32(layout.SEALED_POSITIVE_INFINITY_COUNT_AT, summary.positiveInfinityCount, true);
  view.setUint32(layout.SEALED_NEGATIVE_INFINITY_COUNT_AT, summary.negativeInfinityCount, true);
}
