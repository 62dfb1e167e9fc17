import { OrielError } from "../../errors.ts";
import { type ChunkHeader, HEADER_BYTES, isSound, readHeader } from "../format/chunk.ts";
import { law } from "../format/law.ts";
import type { ServerMoments } from "./server-moments.ts";

/** What summary/server-stats answers; layout in lua/summary/server-stats.lua. */
export interface ServerAnswer {
  status: number;
  /** True when the chunk before the oldest one read should be there and is not. */
  missing: boolean;
  /** Of the open chunk, bytes. */
  length: number;
  /** TIME of the server, ms. */
  nowMs: number;
  /** Of the oldest chunk read: its creation, in an event-clock journal its latest `at`, ms. */
  reachMs: number;
  /** Of the open chunk. */
  header: ChunkHeader | undefined;
  moments: ServerMoments | undefined;
  /** `RANKS` numbers per percentile. */
  ordered: Float64Array;
}

/** How many order statistics are answered per percentile: of the ranks about floor(numbers * p / 100). */
export const RANKS = 5;

/** The first of them. No method asks for one before it, nor for one RANKS or more after it. */
export function firstRank(numbers: number, p: number): number {
  return Math.floor((numbers * p) / 100) - 2;
}

const HEADER_AT = 24;
const MOMENTS_AT = HEADER_AT + HEADER_BYTES;
const ORDERED_AT = MOMENTS_AT + 64;

export function decodeServerAnswer(reply: Uint8Array): ServerAnswer {
  const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
  const sizes = reply.length === HEADER_AT || reply.length === MOMENTS_AT || reply.length >= ORDERED_AT;
  if (!sizes) throw new OrielError("CORRUPT", `an answer of ${reply.length} bytes is cut off`);
  const ordered = new Float64Array(Math.max(0, reply.length - ORDERED_AT) >> 3);
  for (let i = 0; i < ordered.length; i++) ordered[i] = view.getFloat64(ORDERED_AT + 8 * i, true);
  const header = reply.length > HEADER_AT ? readHeader(reply, HEADER_AT) : undefined;
  if (header?.format === law.format && !isSound(header))
    throw new OrielError("CORRUPT", "the header of a chunk holds what is no time or length");
  return {
    status: view.getUint8(0),
    missing: view.getUint8(1) === 1,
    length: view.getUint32(4, true),
    nowMs: view.getFloat64(8, true),
    reachMs: view.getFloat64(16, true),
    header,
    moments: reply.length > MOMENTS_AT ? readMoments(view) : undefined,
    ordered,
  };
}

function readMoments(view: DataView): ServerMoments {
  const count = (i: number) => view.getUint32(MOMENTS_AT + 4 * i, true);
  const number = (i: number) => view.getFloat64(MOMENTS_AT + 16 + 8 * i, true);
  return {
    count: count(0),
    numbers: count(1),
    infinite: count(2),
    negativeInfinite: count(3),
    min: number(0),
    max: number(1),
    high: number(2),
    low: number(3),
    m2: number(4),
    scale: number(5),
  };
}
