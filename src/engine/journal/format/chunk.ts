import { OrielError } from "../../../base/errors.ts";
import * as layout from "../../../generated/layouts/journal.ts";
import type { Degraded } from "../../stats/window-stats.ts";
import { constants, VALUE_PAIR } from "./constants.ts";

/** A chunk's header (CHUNK in layouts/journal.mjs). All times are server ms, except `latestMs`, which is event time. */
export interface ChunkHeader {
  format: number;
  /** 0 f32, 1 f64, 5 pairs (VALUE_PAIR). */
  valueType: number;
  /** 0 server clock, 1 event clock. */
  clock: number;
  /** For how many ms after the creation requests from before a delete are void. lua/journal/chunk.lua states the rules. */
  guardMs: number;
  chunkMs: number;
  number: number;
  createdMs: number;
  birth: number;
  /** Birth of the previous chunk; 0 for a journal's first. */
  birthBefore: number;
  lastStampMs: number;
  retentionMs: number;
  completeSinceMs: number;
  /** Largest own time so far in an event-clock journal; -Infinity without one. */
  latestMs: number;
}

/** Bytes of one value. */
export function valueBytes(valueType: number): number {
  return 4 + 4 * (valueType & 1);
}

/** The part of a header that identifies a chunk and says when to close it. */
export type ChunkSeen = Pick<
  ChunkHeader,
  "clock" | "guardMs" | "chunkMs" | "number" | "createdMs" | "birth" | "lastStampMs" | "latestMs"
>;

export const HEADER_BYTES = layout.CHUNK_BYTES;
/** The last time of a Date. */
const MAX_DATE_MS = 8.64e15;

export function readHeader(bytes: Uint8Array, offset = 0): ChunkHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset + offset, HEADER_BYTES);
  const clockAndGuard = view.getUint16(layout.CHUNK_CLOCK_AND_GUARD_AT, true);
  return {
    format: view.getUint8(layout.CHUNK_FORMAT_AT),
    valueType: view.getUint8(layout.CHUNK_VALUE_TYPE_AT),
    clock: clockAndGuard % 2,
    guardMs: clockAndGuard >>> 1,
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

/** Throws CORRUPT for a header that no step wrote, because readers calculate with its numbers. */
export function checkHeader(header: ChunkHeader): void {
  if (isSound(header)) return;
  const { valueType, guardMs, number, createdMs } = header;
  const what = `chunk ${number}, of ${createdMs} ms, value type ${valueType}, guard ${guardMs} ms`;
  throw new OrielError("CORRUPT", `the header of a chunk has an invalid time or length: ${what}`);
}

/** Whether a step can have written this header. Times outside the range of dates would make every window wrong. */
export function isSound(header: ChunkHeader): boolean {
  const { valueType, guardMs, chunkMs, number, createdMs, birth, lastStampMs, retentionMs } = header;
  if (
    (valueType > 1 && valueType !== VALUE_PAIR) ||
    guardMs > constants.dedupeMs ||
    birth === 0 ||
    !(chunkMs > 0) ||
    !(retentionMs >= 1 && retentionMs < MAX_DATE_MS)
  )
    return false;
  if (!isDate(number) || !isDate(createdMs) || !isDate(lastStampMs) || lastStampMs < createdMs) return false;
  return [header.completeSinceMs, header.latestMs].every(
    (ms) => ms === Number.NEGATIVE_INFINITY || Math.abs(ms) <= MAX_DATE_MS,
  );
}

function isDate(ms: number): boolean {
  return Number.isInteger(ms) && ms >= 0 && ms <= MAX_DATE_MS;
}

export function writeHeader(bytes: Uint8Array, header: ChunkHeader): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  view.setUint8(layout.CHUNK_FORMAT_AT, header.format);
  view.setUint8(layout.CHUNK_VALUE_TYPE_AT, header.valueType);
  view.setUint16(layout.CHUNK_CLOCK_AND_GUARD_AT, header.clock + 2 * header.guardMs, true);
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

/** End of the guard, server ms: appends that are void before it are refused. -Infinity without a guard. */
export function guardedUntilMs({ createdMs, guardMs }: Pick<ChunkHeader, "createdMs" | "guardMs">): number {
  return guardMs > 0 ? createdMs + guardMs : Number.NEGATIVE_INFINITY;
}

/** The guard of a chunk created at `createdMs` that ends at `untilMs`. */
export function guardMsOf(untilMs: number, createdMs: number): number {
  return Math.max(0, untilMs - createdMs);
}

/** Whether this is the empty chunk that a delete leaves: no chunk, for readers. */
export function isEmptyFirst({ format, birthBefore }: ChunkHeader, lengthBytes: number): boolean {
  return lengthBytes === HEADER_BYTES && birthBefore === 0 && format === constants.format;
}

/**
 * When a chunk expires: after that no event in it can be inside any window. Rounded up to whole seconds, so that appends
 * within one second have the same expiry and write it once.
 */
export function expiryOf(header: ChunkHeader): number {
  return Math.ceil((header.lastStampMs + header.retentionMs + header.chunkMs + constants.expirySlackMs) / 1000) * 1000;
}

/** True if neither this chunk, as last seen, nor an earlier one has an event inside a window from `fromMs`. */
export function isPast(header: ChunkHeader, fromMs: number): boolean {
  const reachMs = header.clock === 1 ? header.latestMs : header.lastStampMs + constants.earlyMs;
  return reachMs < fromMs - constants.dedupeMs;
}

/**
 * Whether a window from `fromMs` may need the previous chunk. With the server clock an event's time may be up to `earlyMs`
 * after its stamp, and copies of a frame may follow it within `dedupeMs`. With the event clock no earlier event is later
 * than the latest one in this chunk.
 */
export function needsOlder(header: ChunkHeader, fromMs: number): boolean {
  if (header.birthBefore === 0) return false;
  const reachMs = header.clock === 1 ? header.latestMs : header.createdMs + constants.earlyMs;
  return reachMs >= fromMs - constants.dedupeMs;
}

/** The state of a journal at one instant, as read for a window. */
export interface JournalCut {
  /** The header of the open chunk. */
  header: ChunkHeader;
  /** TIME of the server, ms. */
  nowMs: number;
  /** True if the window needs the chunk before the oldest one read, and there is none. */
  missing: boolean;
  /** Creation of the oldest chunk read, or with the event clock its latest `at`, ms. */
  coversUntilMs: number;
}

/** The present of a series: the server's time, at least the last stamp, or the latest event's time. */
export function seriesNowMs(header: ChunkHeader, nowMs: number): number {
  return header.clock === 1 ? header.latestMs : Math.max(nowMs, header.lastStampMs);
}

/**
 * Why a window from `fromMs` may lack events; undefined if it cannot. `missingReason`: why events that this process has
 * seen are missing.
 */
export function degradedOf(
  read: JournalCut,
  fromMs: number,
  missingReason: Degraded | undefined,
): Degraded | undefined {
  const { header, nowMs, missing, coversUntilMs: reachMs } = read;
  const ofEvents = header.clock === 1;
  if (fromMs < seriesNowMs(header, nowMs) - header.retentionMs) return "retention";
  if (!ofEvents && fromMs < header.completeSinceMs) return "retention";
  if (missing && (ofEvents ? reachMs >= fromMs - constants.dedupeMs : fromMs < reachMs + constants.earlyMs))
    return "lost";
  if (missingReason) return missingReason;
  return nowMs < header.lastStampMs - constants.clockSlackMs ? "clock" : undefined;
}

/** Age at which a writer closes an open chunk. */
export function chunkMsOf(retentionMs: number): number {
  return Math.max(constants.minChunkMs, Math.ceil(retentionMs / constants.chunksPerRetention));
}

/** Throws MISMATCH if a series is stored in another form. */
export function checkKind(header: ChunkHeader, { valueType, clock }: Pick<ChunkHeader, "valueType" | "clock">): void {
  if (header.valueType !== valueType || header.clock !== clock) throw mismatchOf(header, valueType);
}

/** The error of a series that is stored in another form. `valueType`: the one that it was opened with. */
export function mismatchOf({ valueType: type, clock }: ChunkHeader, valueType: number): OrielError {
  const stored = `${type > 1 ? "grouped" : type === 1 ? "float64" : "float32"} values and the ${clock === 1 ? "event" : "server"} clock`;
  const asked = valueType === type ? "another clock" : "another value type";
  return new OrielError("MISMATCH", `the series is stored with ${stored}; it was opened with ${asked}`);
}
