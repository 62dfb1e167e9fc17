import { OrielError } from "../../errors.ts";
import * as layout from "../../generated/layouts/journal.ts";
import type { Degraded } from "../../stats/window-stats.ts";
import { law } from "./law.ts";

/** A chunk's header (CHUNK in layouts/journal.mjs). All times are server ms, but `latestMs` (event time). */
export interface ChunkHeader {
  format: number;
  /** 0 f32, 1 f64. */
  valueType: number;
  /** 0 server clock, 1 event clock. */
  clock: number;
  chunkMs: number;
  number: number;
  createdMs: number;
  birth: number;
  /** Birth of the chunk before; 0 for a journal's first. */
  birthBefore: number;
  lastStampMs: number;
  retentionMs: number;
  completeSinceMs: number;
  /** Largest own time in an event-clock journal so far; -Infinity when there is none. */
  latestMs: number;
}

/** As much of a header as tells chunks apart, and when the open one is to be closed. */
export type ChunkSeen = Pick<
  ChunkHeader,
  "clock" | "chunkMs" | "number" | "createdMs" | "birth" | "lastStampMs" | "latestMs"
>;

export const HEADER_BYTES = layout.CHUNK_BYTES;
const MOST_MS = 2 ** 53;
/** The last day of a Date. */
const LATEST_MS = 8.64e15;

export function readHeader(bytes: Uint8Array, offset = 0): ChunkHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, HEADER_BYTES);
  return {
    format: view.getUint8(layout.CHUNK_FORMAT_AT),
    valueType: view.getUint8(layout.CHUNK_VALUE_TYPE_AT),
    clock: view.getUint16(layout.CHUNK_CLOCK_AT, true),
    chunkMs: view.getUint32(layout.CHUNK_CHUNK_MS_AT, true),
    number: view.getFloat64(layout.CHUNK_NUMBER_AT, true),
    createdMs: view.getFloat64(layout.CHUNK_CREATED_MS_AT, true),
    birth: view.getUint32(layout.CHUNK_BIRTH_AT, true),
    birthBefore: view.getUint32(layout.CHUNK_BIRTH_BEFORE_AT, true),
    lastStampMs: view.getFloat64(layout.CHUNK_LAST_STAMP_MS_AT, true),
    retentionMs: view.getFloat64(layout.CHUNK_RETENTION_MS_AT, true),
    completeSinceMs: view.getFloat64(layout.CHUNK_COMPLETE_SINCE_MS_AT, true),
    latestMs: view.getFloat64(layout.CHUNK_LATEST_MS_AT, true),
  };
}

/** Throws CORRUPT for numbers that no chunk has: a reader counts by them. */
export function checkHeader(header: ChunkHeader): void {
  const { number, valueType, clock, createdMs, lastStampMs, retentionMs } = header;
  if (!Number.isSafeInteger(number) || number < 0) throw damaged(`its number is ${number}`);
  if (valueType > 1 || clock > 1) throw damaged(`its value type is ${valueType}, its clock ${clock}`);
  for (const time of [createdMs, lastStampMs, retentionMs])
    if (!(Math.abs(time) <= MOST_MS)) throw damaged(`a time of its header is ${time} ms`);
  if (!isSound(header)) throw damaged("the header of a chunk holds what is no time or length");
}

function damaged(what: string): OrielError {
  return new OrielError("CORRUPT", what);
}

/** Whether a step of ours can have written it; times that are no dates would make every window a wrong one. */
export function isSound(header: ChunkHeader): boolean {
  const { valueType, clock, chunkMs, number, createdMs, birth, lastStampMs, retentionMs } = header;
  if (valueType > 1 || clock > 1 || birth === 0 || !(chunkMs > 0) || !(retentionMs >= 1 && retentionMs < LATEST_MS))
    return false;
  if (!isDate(number) || !isDate(createdMs) || !isDate(lastStampMs) || lastStampMs < createdMs) return false;
  return [header.completeSinceMs, header.latestMs].every((ms) => ms === -Infinity || Math.abs(ms) <= LATEST_MS);
}

function isDate(ms: number): boolean {
  return Number.isInteger(ms) && ms >= 0 && ms <= LATEST_MS;
}

export function writeHeader(bytes: Uint8Array, header: ChunkHeader): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  view.setUint8(layout.CHUNK_FORMAT_AT, header.format);
  view.setUint8(layout.CHUNK_VALUE_TYPE_AT, header.valueType);
  view.setUint16(layout.CHUNK_CLOCK_AT, header.clock, true);
  view.setUint32(layout.CHUNK_CHUNK_MS_AT, header.chunkMs, true);
  view.setFloat64(layout.CHUNK_NUMBER_AT, header.number, true);
  view.setFloat64(layout.CHUNK_CREATED_MS_AT, header.createdMs, true);
  view.setUint32(layout.CHUNK_BIRTH_AT, header.birth, true);
  view.setUint32(layout.CHUNK_BIRTH_BEFORE_AT, header.birthBefore, true);
  view.setFloat64(layout.CHUNK_LAST_STAMP_MS_AT, header.lastStampMs, true);
  view.setFloat64(layout.CHUNK_RETENTION_MS_AT, header.retentionMs, true);
  view.setFloat64(layout.CHUNK_COMPLETE_SINCE_MS_AT, header.completeSinceMs, true);
  view.setFloat64(layout.CHUNK_LATEST_MS_AT, header.latestMs, true);
}

/**
 * When a chunk may go: nothing it can still hold is inside any window then. Up to whole seconds, so that appends within
 * one second have one expiry, and Redis need not be told it again.
 */
export function expiryOf(header: ChunkHeader): number {
  return Math.ceil((header.lastStampMs + header.retentionMs + header.chunkMs + law.expirySlackMs) / 1000) * 1000;
}

/** Whether nothing that was in the chunk when it was last seen, nor before it, is inside a window from `fromMs`. */
export function isPast(header: ChunkHeader, fromMs: number): boolean {
  const reachMs = header.clock === 1 ? header.latestMs : header.lastStampMs + law.earlyMs;
  return reachMs < fromMs - law.dedupeMs;
}

/**
 * Whether a window from `fromMs` may need the chunk before this one. Server clock: an event may be dated up to
 * `earlyMs` after its stamp, and copies of a frame may follow it within `dedupeMs`. Event clock: no event before
 * this chunk is later than the latest in it.
 */
export function needsOlder(header: ChunkHeader, fromMs: number): boolean {
  if (header.birthBefore === 0) return false;
  const reachMs = header.clock === 1 ? header.latestMs : header.createdMs + law.earlyMs;
  return reachMs >= fromMs - law.dedupeMs;
}

/** The journal at one cut, as it was read for a window. */
export interface Read {
  /** Of the open chunk. */
  header: ChunkHeader;
  /** TIME of the server, ms. */
  nowMs: number;
  /** True when the chunk before the oldest one read should be there and is not. */
  missing: boolean;
  /** Of the oldest chunk read: its creation, in an event-clock journal its latest `at`, ms. */
  reachMs: number;
}

/** The series' now: the server's, which never falls behind a stamp, or the latest event's. */
export function seriesNowMs(header: ChunkHeader, nowMs: number): number {
  return header.clock === 1 ? header.latestMs : Math.max(nowMs, header.lastStampMs);
}

/** Why a window from `fromMs` may lack events, if it may; `lacks`: why it lacks some that this process has seen. */
export function degradedOf(read: Read, fromMs: number, lacks: Degraded | undefined): Degraded | undefined {
  const { header, nowMs, missing, reachMs } = read;
  const ofEvents = header.clock === 1;
  if (fromMs < seriesNowMs(header, nowMs) - header.retentionMs) return "retention";
  if (!ofEvents && fromMs < header.completeSinceMs) return "retention";
  if (missing && (ofEvents ? reachMs >= fromMs - law.dedupeMs : fromMs < reachMs + law.earlyMs)) return "lost";
  if (lacks) return lacks;
  return nowMs < header.lastStampMs - law.clockSlackMs ? "clock" : undefined;
}

/** Life of an open chunk before a writer closes it. */
export function chunkMsOf(retentionMs: number): number {
  return Math.max(law.shortestChunkMs, Math.ceil(retentionMs / law.chunksPerRetention));
}
