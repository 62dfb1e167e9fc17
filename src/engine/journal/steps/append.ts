import * as layout from "../../../generated/layouts/journal.ts";
import { appendScript } from "../../../generated/scripts/journal.ts";
import type { StepOfArguments } from "../../../store/contract.ts";
import {
  answerOf,
  decodeAnswer,
  encodeKnown,
  type JournalAnswer,
  type Known,
  STATUS,
  VERDICT,
} from "../format/answer.ts";
import {
  type ChunkHeader,
  chunkMsOf,
  expiryOf,
  guardedUntilMs,
  guardMsOf,
  HEADER_BYTES,
  isEmptyFirst,
} from "../format/chunk.ts";
import { ChunkBytes } from "../format/chunk-bytes.ts";
import { constants } from "../format/constants.ts";
import { type Frame, hasOwnTimes } from "../format/frames.ts";

export interface Append {
  valueType: number;
  clock: number;
  retentionMs: number;
  /** Latest stamp, server ms. The earliest is `constants.dedupeMs` before it, exclusive. */
  voidAfterMs: number;
  /** Birth of the chunk if this call creates it. */
  birth: number;
  frames: Frame[];
  /** "none": the answer has no bytes. */
  known: Known | undefined | "none";
}

/** Appends frames to the open chunk. lua/journal/append.lua states the rules. */
export const append: StepOfArguments<Append, JournalAnswer> = {
  name: "journal/append",
  script: appendScript,
  arity: 4,
  keyCount: 1,
  repeatable: true,
  encode: (input) => [
    headOf(input),
    metasOf(input.frames),
    joined(input.frames),
    input.known === "none" ? "" : encodeKnown(input.known),
  ],
  decode: decodeAnswer,
  local(keys, key, input, nowMs) {
    const found = keys.get(key) as ChunkBytes | undefined;
    const wanted = input.known !== "none";
    const known = input.known === "none" ? undefined : input.known;
    const sizeBytes = input.frames.reduce((sum, frame) => sum + frame.bytes.length, 0);
    const chunk = found && isEmptyFirst(found.header, found.length) ? undefined : found;
    const header = chunk ? chunk.header : freshHeader(input, nowMs, found?.header);
    const status = refusal(header, input, (found?.length ?? 0) + sizeBytes, nowMs);
    if (status !== STATUS.done) return answerOf(status, nowMs, found, new Uint8Array(0), wanted, known);

    const stampMs = Math.max(nowMs, header.lastStampMs);
    if (input.retentionMs > header.retentionMs) {
      header.completeSinceMs = Math.max(header.completeSinceMs, stampMs - header.retentionMs);
      header.retentionMs = input.retentionMs;
    }
    const verdicts = Uint8Array.from(input.frames, (frame) => judge(frame, header, stampMs, nowMs));
    const written = input.frames.filter((_, i) => verdicts[i] === VERDICT.written);
    if (written.length === 0) return answerOf(STATUS.done, nowMs, found, verdicts, wanted, known);

    if (chunk && stampMs >= guardedUntilMs(header)) header.guardMs = 0;
    header.lastStampMs = stampMs;
    const writtenBytes = written.reduce((sum, frame) => sum + frame.bytes.length, 0);
    const target = chunk ?? new ChunkBytes(header, HEADER_BYTES + writtenBytes);
    keys.set(key, target, target.sizeBytes(writtenBytes), expiryOf(header));
    target.reserve(writtenBytes);
    target.header = header;
    for (const frame of written) target.append(stamped(frame.bytes, stampMs - header.createdMs));
    return answerOf(STATUS.done, nowMs, target, verdicts, wanted, known);
  },
};

function refusal(header: ChunkHeader, input: Append, sizeBytes: number, nowMs: number): number {
  const { format, valueType, clock, createdMs, lastStampMs } = header;
  if (format !== constants.format) return STATUS.foreign;
  if (valueType !== input.valueType || clock !== input.clock) return STATUS.mismatch;
  if (isVoid(Math.max(nowMs, lastStampMs), input) || input.voidAfterMs < guardedUntilMs(header)) return STATUS.void;
  if (sizeBytes > constants.fullBytes) return STATUS.full;
  return nowMs - createdMs > constants.maxChunkAgeMs ? STATUS.old : STATUS.done;
}

/** Whether a frame would get a stamp too far from that of a possible copy, so that readers would count both. */
export function isVoid(stampMs: number, { voidAfterMs }: { voidAfterMs: number }): boolean {
  return !(stampMs <= voidAfterMs && stampMs > voidAfterMs - constants.dedupeMs);
}

/** The header of a first chunk, in the place of the empty one that a delete left, if there is one. */
function freshHeader(input: Append, nowMs: number, empty: ChunkHeader | undefined): ChunkHeader {
  const createdMs = empty ? Math.max(nowMs, empty.lastStampMs) : nowMs;
  return {
    format: constants.format,
    valueType: input.valueType,
    clock: input.clock,
    guardMs: empty ? guardMsOf(guardedUntilMs(empty), createdMs) : 0,
    chunkMs: chunkMsOf(input.retentionMs),
    number: empty ? Math.max(nowMs, empty.number) : nowMs,
    createdMs,
    birth: input.birth,
    birthBefore: 0,
    lastStampMs: createdMs,
    retentionMs: input.retentionMs,
    completeSinceMs: Number.NEGATIVE_INFINITY,
    latestMs: Number.NEGATIVE_INFINITY,
  };
}

/** The verdict on one frame. With the event clock, a written frame advances the series' present. */
function judge(frame: Frame, header: ChunkHeader, stampMs: number, nowMs: number): number {
  const ownTimes = hasOwnTimes(frame.bytes);
  if (ownTimes && frame.latestMs > nowMs + constants.earlyMs) return VERDICT.early;
  const oldestMs = (header.clock === 1 ? header.latestMs : stampMs) - header.retentionMs;
  if (ownTimes && frame.earliestMs < oldestMs) return VERDICT.late;
  if (header.clock === 1) header.latestMs = Math.max(header.latestMs, ownTimes ? frame.latestMs : stampMs);
  return VERDICT.written;
}

/** Copies a frame and sets its stamp. */
export function stamped(frame: Uint8Array, sinceCreationMs: number): Uint8Array {
  const copy = frame.slice();
  new DataView(copy.buffer).setUint32(layout.FRAME_SINCE_CREATION_MS_AT, sinceCreationMs, true);
  return copy;
}

/** Scratch memory: for a few bytes, new views cost more than the copy. */
const head = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(layout.APPEND_BYTES));
const headBytes = /* @__PURE__ */ new Uint8Array(head.buffer);

function headOf(input: Append): Uint8Array {
  head.setUint8(layout.APPEND_VALUE_TYPE_AT, input.valueType);
  head.setUint8(layout.APPEND_CLOCK_AT, input.clock);
  head.setUint32(layout.APPEND_BIRTH_AT, input.birth, true);
  head.setFloat64(layout.APPEND_RETENTION_MS_AT, input.retentionMs, true);
  head.setFloat64(layout.APPEND_VOID_AFTER_MS_AT, input.voidAfterMs, true);
  return headBytes.slice();
}

/** Sizes and times; empty for one frame without own times, which the script always accepts. */
function metasOf(frames: Frame[]): Uint8Array | string {
  if (frames.length === 1 && !hasOwnTimes(frames[0]!.bytes)) return "";
  const view = new DataView(new ArrayBuffer(frames.length * layout.FRAME_META_BYTES));
  for (const [i, { bytes, earliestMs, latestMs }] of frames.entries()) {
    const at = i * layout.FRAME_META_BYTES;
    view.setUint32(at + layout.FRAME_META_SIZE_AT, bytes.length, true);
    view.setFloat64(at + layout.FRAME_META_EARLIEST_MS_AT, earliestMs, true);
    view.setFloat64(at + layout.FRAME_META_LATEST_MS_AT, latestMs, true);
  }
  return new Uint8Array(view.buffer);
}

function joined(frames: Frame[]): Uint8Array {
  if (frames.length === 1) return frames[0]!.bytes;
  const all = new Uint8Array(frames.reduce((sum, frame) => sum + frame.bytes.length, 0));
  let at = 0;
  for (const frame of frames) {
    all.set(frame.bytes, at);
    at += frame.bytes.length;
  }
  return all;
}
