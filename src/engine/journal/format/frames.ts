import * as layout from "../../../generated/layouts/journal.ts";
import type { Column } from "../../kernel/contract.ts";
import { MAX_IN_SEGMENT } from "../../stats/segments/segment.ts";
import type { Segments } from "../../stats/segments/segments.ts";
import { valueBytes } from "./chunk.ts";
import { constants } from "./constants.ts";

/*
 * One producer's batch (all little-endian; f64 values start at a multiple of 8 within the frame):
 *   0 u8 format << 4 | own times << 1 | f64 values · 1 u8 zero · 2 u16 count · 4 u32 producer · 8 u32 sequence
 *   12 u32 ms from the chunk's creation to the stamp (written by the store)
 *   16 own times only: f64 base, count x u32 ms after it, zeros to a multiple of 8 before f64 values
 *   .. count x f32 or f64
 */
const OWN_TIMES = 2;
const FRAME_HEADER_BYTES = layout.FRAME_BYTES;
/** Offset of the u32 times after the f64 base of own times. */
export const TIMES_AFTER_BASE = 8;
export const MAX_IN_FRAME = 65_535;

export interface Frame {
  bytes: Uint8Array;
  /** Smallest and largest own time, ms; 0 if the store's stamp is the time. */
  earliestMs: number;
  latestMs: number;
}

/** Offsets of the parts of a frame, from the beginning of the parsed bytes. */
export interface FrameParts {
  size: number;
  count: number;
  producer: number;
  sequence: number;
  sinceCreationMs: number;
  /** -1 without own times. */
  baseAt: number;
  valuesAt: number;
}

export function hasOwnTimes(frame: Uint8Array): boolean {
  return (frame[0]! & OWN_TIMES) !== 0;
}

export function frameSize(valueType: number, count: number, ownTimes: boolean): number {
  return valuesOffset(valueType, count, ownTimes) + count * valueBytes(valueType);
}

function valuesOffset(valueType: number, count: number, ownTimes: boolean): number {
  const end = FRAME_HEADER_BYTES + (ownTimes ? TIMES_AFTER_BASE + 4 * count : 0);
  const rest = valueBytes(valueType) - 1;
  return (end + rest) & ~rest;
}

/** Scratch memory: for a few bytes, new views cost more than the copy of a part. */
const lone = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(FRAME_HEADER_BYTES + 8));
const loneBytes = /* @__PURE__ */ new Uint8Array(lone.buffer);

/** Encodes one value without an own time. */
export function encodeEvent(producer: number, sequence: number, valueType: number, value: number): Frame {
  lone.setUint8(layout.FRAME_FLAGS_AT, (constants.format << 4) | valueType);
  lone.setUint16(layout.FRAME_COUNT_AT, 1, true);
  lone.setUint32(layout.FRAME_PRODUCER_AT, producer, true);
  lone.setUint32(layout.FRAME_SEQUENCE_AT, sequence, true);
  if (valueBytes(valueType) === 8) lone.setFloat64(FRAME_HEADER_BYTES, value, true);
  else lone.setFloat32(FRAME_HEADER_BYTES, value, true);
  return { bytes: loneBytes.slice(0, frameSize(valueType, 1, false)), earliestMs: 0, latestMs: 0 };
}

/** Encodes 1 to 65 535 values. `times` lie within 2^32 ms of their smallest; undefined for the store's time. */
export function encodeFrame(producer: number, sequence: number, values: Column, times?: ArrayLike<number>): Frame {
  const valueType = values instanceof Float64Array ? 1 : 0;
  const bytes = new Uint8Array(frameSize(valueType, values.length, times !== undefined));
  const view = new DataView(bytes.buffer);
  view.setUint8(layout.FRAME_FLAGS_AT, (constants.format << 4) | (times ? OWN_TIMES : 0) | valueType);
  view.setUint16(layout.FRAME_COUNT_AT, values.length, true);
  view.setUint32(layout.FRAME_PRODUCER_AT, producer, true);
  view.setUint32(layout.FRAME_SEQUENCE_AT, sequence, true);
  bytes.set(
    new Uint8Array(values.buffer, values.byteOffset, values.byteLength),
    valuesOffset(valueType, values.length, times !== undefined),
  );
  if (!times) return { bytes, earliestMs: 0, latestMs: 0 };
  let earliestMs = times[0]!;
  let latestMs = earliestMs;
  for (let i = 1; i < times.length; i++) {
    const ms = times[i]!;
    if (ms < earliestMs) earliestMs = ms;
    if (ms > latestMs) latestMs = ms;
  }
  view.setFloat64(FRAME_HEADER_BYTES, earliestMs, true);
  for (let i = 0; i < times.length; i++)
    view.setUint32(FRAME_HEADER_BYTES + TIMES_AFTER_BASE + 4 * i, times[i]! - earliestMs, true);
  return { bytes, earliestMs, latestMs };
}

/** Counts the events in whole frames, including copies of frames. */
export function countEvents(frames: Uint8Array, valueType: number): number {
  const view = new DataView(frames.buffer, frames.byteOffset, frames.byteLength);
  const parts = noParts();
  let count = 0;
  for (let at = 0; readFrame(view, at, valueType, parts) === "whole"; at += parts.size) count += parts.count;
  return count;
}

/** An object for `readFrame` to fill. */
export function noParts(): FrameParts {
  return { size: 0, count: 0, producer: 0, sequence: 0, sinceCreationMs: 0, baseAt: 0, valuesAt: 0 };
}

/** Reads the frame at `at` into `parts`. Returns "cut" if the bytes end before it does, "foreign" if it is not a frame of this type. */
export function readFrame(
  view: DataView,
  at: number,
  valueType: number,
  parts: FrameParts,
): "whole" | "cut" | "foreign" {
  if (at + FRAME_HEADER_BYTES > view.byteLength) return "cut";
  const flags = view.getUint8(at + layout.FRAME_FLAGS_AT);
  const count = view.getUint16(at + layout.FRAME_COUNT_AT, true);
  if (flags >> 4 !== constants.format || (flags & 13) !== valueType || count === 0) return "foreign";
  const ownTimes = (flags & OWN_TIMES) !== 0;
  const size = frameSize(valueType, count, ownTimes);
  if (at + size > view.byteLength) return "cut";
  parts.size = size;
  parts.count = count;
  parts.producer = view.getUint32(at + layout.FRAME_PRODUCER_AT, true);
  parts.sequence = view.getUint32(at + layout.FRAME_SEQUENCE_AT, true);
  parts.sinceCreationMs = view.getUint32(at + layout.FRAME_SINCE_CREATION_MS_AT, true);
  parts.baseAt = ownTimes ? at + FRAME_HEADER_BYTES : -1;
  parts.valuesAt = at + valuesOffset(valueType, count, ownTimes);
  return "whole";
}

/** From this size on, a typed array over the bytes is faster than a DataView. */
const MIN_COLUMN_BYTES = 4096;
/** Up to this number, copying values one by one is faster than a subarray. */
const FEW = 64;

/** Scratch memory for the own times of a part of a frame. */
const segmentTimes = new Float64Array(MAX_IN_SEGMENT);

/** Copies the values of frames into segments. */
export class FrameValues {
  readonly view: DataView;
  readonly #width: number;
  /** All bytes as a column, headers included. Frames begin at multiples of a value's width. */
  readonly #column: Column | undefined;

  constructor(bytes: Uint8Array, valueType: number) {
    this.#width = valueBytes(valueType);
    let there = bytes;
    if (bytes.length >= MIN_COLUMN_BYTES) {
      if (bytes.byteOffset % this.#width !== 0) there = new Uint8Array(bytes);
      const count = Math.floor(there.length / this.#width);
      this.#column =
        this.#width === 8
          ? new Float64Array(there.buffer, there.byteOffset, count)
          : new Float32Array(there.buffer, there.byteOffset, count);
    }
    this.view = new DataView(there.buffer, there.byteOffset, there.byteLength);
  }

  /** Adds the events of one frame to segments. */
  store(events: Segments, { count, baseAt, valuesAt }: FrameParts, stampMs: number): void {
    if (count === 1 && baseAt < 0) {
      events.append(stampMs, this.#at(valuesAt));
      events.closeIfFull();
      return;
    }
    const baseMs = baseAt < 0 ? 0 : this.view.getFloat64(baseAt, true);
    for (let from = 0; from < count; ) {
      const segment = events.open();
      const some = Math.min(segment.room, count - from, segmentTimes.length);
      const first = segment.reserve(some);
      this.#read(valuesAt + from * this.#width, segment.values, first, some);
      if (baseAt < 0) segment.stampAll(stampMs, some);
      else {
        for (let i = 0; i < some; i++)
          segmentTimes[i] = baseMs + this.view.getUint32(baseAt + TIMES_AFTER_BASE + 4 * (from + i), true);
        segment.stampEach(segmentTimes, 0, some);
      }
      from += some;
      events.closeIfFull();
    }
  }

  #at(at: number): number {
    return this.#width === 4 ? this.view.getFloat32(at, true) : this.view.getFloat64(at, true);
  }

  #read(at: number, values: Column, first: number, count: number): void {
    const column = this.#column;
    if (column) {
      const from = at / this.#width;
      if (count > FEW) values.set(column.subarray(from, from + count), first);
      else for (let i = 0; i < count; i++) values[first + i] = column[from + i]!;
    } else if (count > 8) {
      const { buffer, byteOffset } = this.view;
      const source = new Uint8Array(buffer, byteOffset + at, count * this.#width);
      new Uint8Array(values.buffer, values.byteOffset + first * this.#width, source.length).set(source);
    } else for (let i = 0; i < count; i++) values[first + i] = this.#at(at + i * this.#width);
  }
}
