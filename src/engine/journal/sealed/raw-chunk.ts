import type { Column } from "../../kernel/contract.ts";
import { newColumn } from "../../stats/segments/segment.ts";
import { Segments } from "../../stats/segments/segments.ts";
import { FRAME_HEADER_BYTES } from "../format/answer.ts";
import { type ChunkHeader, HEADER_BYTES, valueBytes } from "../format/chunk.ts";
import { constants } from "../format/constants.ts";
import type { Dedupe } from "../format/dedupe.ts";
import { type FrameParts, FrameValues, noParts, readFrame, TIMES_AFTER_BASE } from "../format/frames.ts";
import { DamagedChunk } from "../steps/corrupt.ts";
import type { ChunkEvents } from "./encode-chunk.ts";
import type { NamedFrame } from "./names.ts";

/** A closed chunk that is not sealed: its header and all of its bytes. */
export interface RawChunk {
  header: ChunkHeader;
  bytes: Uint8Array;
}

/** Bytes of frames that one slice reads: 0.1 to 0.3 ms. */
const SLICE_BYTES = 32 << 10;

/** Adds the names of all frames of a chunk, in slices. Throws DamagedChunk. */
export function* admitFrames(chunk: RawChunk, dedupe: Dedupe): Generator<void, void> {
  yield* eachFrame(chunk, ({ producer, sequence }, stampMs) => void dedupe.admit(producer | 0, sequence | 0, stampMs));
}

/**
 * Reads the events of a chunk in slices, each once. `dedupe` has the names of earlier frames, because the chunk may have copies of them. The
 * result has the names of the chunk's last frames, because a later chunk may have copies of those, and in `counted` where the frames
 * begin that count. Throws DamagedChunk.
 */
export function* eventsOf(
  { header, bytes }: RawChunk,
  dedupe: Dedupe,
): Generator<void, ChunkEvents & { counted: number[] }> {
  const source = new FrameValues(bytes, header.valueType);
  // One segment, whose columns are the events.
  const events = new Segments(header.valueType, Number.MAX_SAFE_INTEGER);
  const named: NamedFrame[] = [];
  const counted: number[] = [];
  let place = 0;
  yield* eachFrame({ header, bytes }, (parts, stampMs, at) => {
    const { producer, sequence, sinceCreationMs } = parts;
    place = at;
    if (!dedupe.admit(producer | 0, sequence | 0, stampMs)) return;
    counted.push(at);
    source.store(events, parts, stampMs);
    if (header.lastStampMs - stampMs < constants.dedupeMs) named.push({ producer, sequence, sinceCreationMs });
  });
  const { number, birth } = header;
  const frame = place === 0 ? new Uint8Array(FRAME_HEADER_BYTES) : bytes.slice(place, place + FRAME_HEADER_BYTES);
  const end = { number, birth, length: bytes.length, place, frame };
  return { header, end, ...columnsOf(events, header), named, counted };
}

/**
 * Calls `visit` for each event of the frames at `counted`, one by one from their bytes, in slices. Sealing compares its result with these,
 * because no fault of the columns may lose an event. Values are their bits, low half first.
 */
export function* eachEvent(
  { header, bytes }: RawChunk,
  counted: readonly number[],
  visit: (ms: number, low: number, high: number) => void,
): Generator<void, void> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const widthBytes = valueBytes(header.valueType);
  const parts = noParts();
  let sliceEnd = SLICE_BYTES;
  for (const at of counted) {
    if (at > sliceEnd) {
      yield;
      sliceEnd = at + SLICE_BYTES;
    }
    readFrame(view, at, header.valueType, parts);
    const { baseAt, valuesAt } = parts;
    const baseMs = baseAt < 0 ? header.createdMs + parts.sinceCreationMs : view.getFloat64(baseAt, true);
    for (let i = 0; i < parts.count; i++) {
      const ms = baseAt < 0 ? baseMs : baseMs + view.getUint32(baseAt + TIMES_AFTER_BASE + 4 * i, true);
      const value = valuesAt + widthBytes * i;
      visit(ms, view.getUint32(value, true), widthBytes === 8 ? view.getUint32(value + widthBytes / 2, true) : 0);
    }
  }
}

function columnsOf({ list, count }: Segments, header: ChunkHeader): { times: Float64Array; values: Column } {
  const [segment] = list;
  const times = new Float64Array(count);
  for (let i = 0; i < count; i++) times[i] = segment!.timeAt(i);
  if (segment) return { times, values: segment.values.slice(0, count) };
  return { times, values: newColumn(header.valueType, 0) };
}

function* eachFrame(
  { header, bytes }: RawChunk,
  visit: (parts: FrameParts, stampMs: number, at: number) => void,
): Generator<void, void> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const parts = noParts();
  let at = HEADER_BYTES;
  let sliceEnd = SLICE_BYTES;
  for (; readFrame(view, at, header.valueType, parts) === "whole"; at += parts.size) {
    visit(parts, header.createdMs + parts.sinceCreationMs, at);
    if (at < sliceEnd) continue;
    yield;
    sliceEnd = at + SLICE_BYTES;
  }
  if (at !== bytes.length) throw new DamagedChunk(header.number, `has foreign bytes at byte ${at}`);
}
