import { eventsOfSealed } from "../subject.ts";

/**
 * The journal's bytes, read as the format says and by nobody's code but this file's.
 *
 * Chunk header, 64 bytes:      0 u8 format · 1 u8 value type · 2 u16 flags · 4 u32 chunkMs · 8 f64 number ·
 * 16 f64 created · 24 u32 birth · 28 u32 birth before · 32 f64 last stamp · 40 f64 retention ·
 * 48 f64 complete since · 56 f64 latest `at`
 * Frame header, 16 bytes:      0 u8 format and flags · 1 u8 zero · 2 u16 count · 4 u32 producer · 8 u32 sequence ·
 * 12 u32 ms since the chunk's creation
 */
export interface Chunk {
  readonly isDouble: boolean;
  readonly isEventClock: boolean;
  readonly chunkMs: number;
  readonly number: number;
  readonly createdMs: number;
  readonly birth: number;
  readonly birthBefore: number;
  readonly lastStampMs: number;
  readonly retentionMs: number;
  readonly completeSinceMs: number;
  readonly latestAtMs: number;
  readonly frames: readonly Frame[];
}

interface Frame {
  /** Producer and sequence, by which readers recognise copies. */
  readonly id: string;
  readonly stampMs: number;
  readonly events: readonly JournalEvent[];
}

export interface JournalEvent {
  readonly value: number;
  readonly atMs: number;
}

const CHUNK_HEADER_BYTES = 64;
const FRAME_HEADER_BYTES = 16;

/** Throws where the bytes are not a chunk of format 1, to the last byte. */
export function parseChunk(bytes: Uint8Array): Chunk {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < CHUNK_HEADER_BYTES) throw new Error(`a chunk of ${bytes.length} bytes`);
  if (view.getUint8(0) !== 1) throw new Error(`chunk format ${view.getUint8(0)}`);
  const isDouble = view.getUint8(1) === 1;
  const createdMs = view.getFloat64(16, true);
  const frames: Frame[] = [];
  for (let at = CHUNK_HEADER_BYTES; at < bytes.length; ) {
    const { frame, sizeBytes } = parseFrame(view, at, createdMs, isDouble);
    frames.push(frame);
    at += sizeBytes;
  }
  return {
    isDouble,
    isEventClock: (view.getUint16(2, true) & 1) === 1,
    chunkMs: view.getUint32(4, true),
    number: view.getFloat64(8, true),
    createdMs,
    birth: view.getUint32(24, true),
    birthBefore: view.getUint32(28, true),
    lastStampMs: view.getFloat64(32, true),
    retentionMs: view.getFloat64(40, true),
    completeSinceMs: view.getFloat64(48, true),
    latestAtMs: view.getFloat64(56, true),
    frames,
  };
}

function parseFrame(view: DataView, at: number, createdMs: number, isDouble: boolean) {
  const first = view.getUint8(at);
  if (first >> 4 !== 1 || view.getUint8(at + 1) !== 0) throw new Error(`no frame begins at byte ${at}`);
  if (((first & 1) === 1) !== isDouble) throw new Error(`the frame at byte ${at} has another value type`);
  const hasTimes = (first & 2) === 2;
  const count = view.getUint16(at + 2, true);
  if (count === 0) throw new Error(`the frame at byte ${at} is empty`);
  const stampMs = createdMs + view.getUint32(at + 12, true);
  const timesAt = FRAME_HEADER_BYTES;
  let valuesAt = hasTimes ? timesAt + 8 + 4 * count : timesAt;
  if (isDouble) valuesAt = Math.ceil(valuesAt / 8) * 8;
  const baseMs = hasTimes ? view.getFloat64(at + timesAt, true) : stampMs;
  const events: JournalEvent[] = [];
  for (let i = 0; i < count; i++) {
    const atMs = hasTimes ? baseMs + view.getUint32(at + timesAt + 8 + 4 * i, true) : stampMs;
    const value = isDouble
      ? view.getFloat64(at + valuesAt + 8 * i, true)
      : view.getFloat32(at + valuesAt + 4 * i, true);
    events.push({ value, atMs });
  }
  const id = `${view.getUint32(at + 4, true)}:${view.getUint32(at + 8, true)}`;
  return { frame: { id, stampMs, events }, sizeBytes: valuesAt + count * (isDouble ? 8 : 4) };
}

/** The events of a sealed chunk, in order, and its header, which is that of the raw chunk except for the format. */
export function parseSealed(bytes: Uint8Array): { chunk: Omit<Chunk, "frames">; events: JournalEvent[] } {
  if (bytes[0] !== 2) throw new Error(`chunk format ${bytes[0]}`);
  const raw = bytes.slice(0, CHUNK_HEADER_BYTES);
  raw[0] = 1;
  const { frames: _none, ...chunk } = parseChunk(raw);
  return { chunk, events: eventsOfSealed(bytes) };
}

/** No event that is later can be in the chunk: one may be dated up to 60 s after its stamp. */
export function reachMs({ isEventClock, latestAtMs, lastStampMs }: Chunk): number {
  return isEventClock ? latestAtMs : lastStampMs + 60_000;
}
