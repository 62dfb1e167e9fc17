import { FORM } from "../../../generated/layouts/block.ts";
import * as layout from "../../../generated/layouts/journal.ts";
import { exceptionsOf, outlineOf } from "../../kernel/blocks/block.ts";
import type { BlockTotals, Outline } from "../../kernel/blocks/contract.ts";
import { readTotals } from "../../kernel/blocks/totals.ts";
import type { Column, Summary } from "../../kernel/contract.ts";
import { type ChunkHeader, HEADER_BYTES, readHeader } from "../format/chunk.ts";
import { DamagedChunk } from "../steps/corrupt.ts";
import { checksumOf, headsChecksum, recordChecksum, SEALED_FIXED_BYTES } from "./encode-chunk.ts";
import { SealedNames } from "./names.ts";
import { type PlacedBlock, type Places, placedBlocks, placesOf, totalsBytesOf } from "./places.ts";
import { isPossibleEnd, rawEndOf } from "./raw-end.ts";

/** A block of a chunk of which only the outline is here. */
export interface OutlinedBlock extends PlacedBlock {
  /** Only in a chunk that an edge of the window cuts. */
  readonly totals: BlockTotals | undefined;
  readonly totalsBytes: Uint8Array | undefined;
}

/** The beginning of a sealed chunk, as far as `read-outlines` returns it. */
export class ChunkOutline {
  readonly header: ChunkHeader;
  readonly checksum: number;
  /** Of the whole chunk. */
  readonly sizeBytes: number;
  readonly count: number;
  readonly earliestMs: number;
  readonly latestMs: number;
  readonly summary: Summary;
  /** Undefined if the answer ends before them. */
  readonly names: SealedNames | undefined;
  /** Empty if the answer ends before them. */
  readonly blocks: readonly OutlinedBlock[];

  private constructor(bytes: Uint8Array, header: ChunkHeader) {
    const damaged = (what: string) => new DamagedChunk(header.number, what);
    if (bytes.length < SEALED_FIXED_BYTES) throw damaged(`has ${bytes.length} bytes`);
    const view = new DataView(bytes.buffer, bytes.byteOffset + HEADER_BYTES, layout.SEALED_BYTES);
    const u32 = (at: number) => view.getUint32(at, true);
    const places = placesOf(bytes);
    if (!places) throw damaged("has parts at impossible places");
    const { blockCount, totalsAt, namesAt, blocksAt, sizeBytes } = places;
    const isWhole = [SEALED_FIXED_BYTES, totalsAt, blocksAt].includes(bytes.length);
    if (!isWhole) throw damaged("has parts at impossible places");
    const isWholePrefix = bytes.length === blocksAt;
    const isUnchanged =
      u32(layout.SEALED_RECORD_CHECKSUM_AT) === recordChecksum(bytes) &&
      (bytes.length < totalsAt || u32(layout.SEALED_HEADS_CHECKSUM_AT) === headsChecksum(bytes, totalsAt)) &&
      (!isWholePrefix || u32(layout.SEALED_CHECKSUM_AT) === checksumOf(bytes, blocksAt));
    if (!isUnchanged) throw damaged("has another checksum");
    this.header = header;
    this.checksum = u32(layout.SEALED_CHECKSUM_AT);
    this.sizeBytes = sizeBytes;
    this.count = u32(layout.SEALED_COUNT_AT);
    this.earliestMs = view.getFloat64(layout.SEALED_EARLIEST_MS_AT, true);
    this.latestMs = view.getFloat64(layout.SEALED_LATEST_MS_AT, true);
    this.summary = summaryOf(view, this.count);
    const { nanCount, positiveInfinityCount, negativeInfinityCount } = this.summary;
    const hasTimes =
      Number.isFinite(this.earliestMs) && this.earliestMs <= this.latestMs && Number.isFinite(this.latestMs);
    if (nanCount + positiveInfinityCount + negativeInfinityCount > this.count || (this.count > 0 && !hasTimes))
      throw damaged("has impossible statistics");
    if (!isPossibleEnd(rawEndOf(bytes), this.count, header)) throw damaged("names an impossible end");
    this.names = isWholePrefix
      ? SealedNames.parse(bytes.subarray(namesAt, blocksAt), header.createdMs, header.lastStampMs)
      : undefined;
    if (isWholePrefix && !this.names) throw damaged("has damaged names");
    const hasBlocks = bytes.length > SEALED_FIXED_BYTES || blockCount === 0;
    this.blocks = hasBlocks ? blocksOf(bytes, places, header) : [];
  }

  /** `bytes`: as read-outlines answered them. Throws CORRUPT. */
  static parse(bytes: Uint8Array): ChunkOutline {
    return new ChunkOutline(bytes, readHeader(bytes));
  }
}

function blocksOf(bytes: Uint8Array, places: Places, header: ChunkHeader): OutlinedBlock[] {
  const hasTotals = bytes.length >= places.namesAt && bytes.length > places.totalsAt;
  return placedBlocks(bytes, places, header.number, header.valueType).map(({ head, headBytes, checksum, at }, i) => {
    const totalsBytes = hasTotals ? totalsBytesOf(bytes, places, i) : undefined;
    return { head, headBytes, checksum, at, totals: totalsBytes && readTotals(head, totalsBytes), totalsBytes };
  });
}

function summaryOf(view: DataView, count: number): Summary {
  return {
    count,
    nanCount: view.getUint32(layout.SEALED_NAN_COUNT_AT, true),
    positiveInfinityCount: view.getUint32(layout.SEALED_POSITIVE_INFINITY_COUNT_AT, true),
    negativeInfinityCount: view.getUint32(layout.SEALED_NEGATIVE_INFINITY_COUNT_AT, true),
    sumHigh: view.getFloat64(layout.SEALED_SUM_HIGH_AT, true),
    sumLow: view.getFloat64(layout.SEALED_SUM_LOW_AT, true),
    m2: view.getFloat64(layout.SEALED_M2_AT, true),
    min: view.getFloat64(layout.SEALED_MIN_AT, true),
    max: view.getFloat64(layout.SEALED_MAX_AT, true),
  };
}

/** Values of a block that are known from its head, and groups of others. NaN is left out. */
export interface BlockRanks {
  /** Values outside groups. */
  readonly exceptions: Column;
  readonly outline: Outline;
  /** Number of values in groups. */
  readonly regular: number;
}

const NONE = new Float32Array(0);

/** Undefined if the head does not say where its numbers are: values are raw, or NaN stand among them. */
export function ranksOf({ head, headBytes }: OutlinedBlock): BlockRanks | undefined {
  if (head.form === FORM.raw || (head.form === FORM.bits && head.nanCount > 0)) return undefined;
  const exceptions =
    head.exceptions === 0 ? NONE : exceptionsOf(head, headBytes).filter((value) => !Number.isNaN(value));
  return { exceptions, outline: outlineOf(head, headBytes), regular: head.count - head.exceptions };
}
