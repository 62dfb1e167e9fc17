import { OrielError } from "../../../base/errors.ts";
import * as layout from "../../../generated/layouts/journal.ts";
import { type ChunkHeader, checkHeader, guardedUntilMs, HEADER_BYTES, isEmptyFirst, readHeader } from "./chunk.ts";
import type { ChunkBytes } from "./chunk-bytes.ts";
import type { ClosedChunks } from "./closed-chunks.ts";
import { constants } from "./constants.ts";

export const STATUS = { done: 0, missing: 1, mismatch: 2, full: 3, old: 4, void: 5, foreign: 6 } as const;
export const VERDICT = { written: 0, late: 1, early: 2 } as const;

/**
 * The part of a chunk that a reader has, which its next call names. `frame` is the last frame header, at `place` (0: none).
 * Birth 0 means that the reader has nothing and wants the page from `length` on.
 */
export interface Known {
  number: number;
  birth: number;
  length: number;
  place: number;
  frame: Uint8Array;
}

/** The answer of append, read and rotate; ANSWER in layouts/journal.mjs. */
export interface JournalAnswer {
  status: number;
  /** True if `bytes` begin at the known length, so the copy still agrees with the chunk. */
  continued: boolean;
  from: number;
  /** TIME of the server, ms. */
  nowMs: number;
  /** Length of the chunk in bytes. */
  length: number;
  header: ChunkHeader | undefined;
  /** Appends that are void before this server time are refused, because they may be older than a delete. -Infinity: none is. */
  guardedUntilMs: number;
  /** One for each appended frame. */
  verdicts: Uint8Array;
  bytes: Uint8Array;
  /** For an append of events with their own times: no other copy of the request can have run. */
  isOnlyCopy?: boolean | undefined;
  /** Closed chunks at the same instant, if they were requested. */
  closedChunks?: ClosedChunks | undefined;
}

const PREFIX_BYTES = layout.ANSWER_BYTES;
const NONE = new Uint8Array(0);
export const FRAME_HEADER_BYTES = layout.FRAME_BYTES;

/** Scratch memory: for a few bytes, new views cost more than the copy. */
const part = /* @__PURE__ */ new DataView(/* @__PURE__ */ new ArrayBuffer(layout.KNOWN_BYTES + FRAME_HEADER_BYTES));
const partBytes = /* @__PURE__ */ new Uint8Array(part.buffer);

/** Encodes `known` for a call. Undefined requests the whole chunk. */
export function encodeKnown(known: Known | undefined): Uint8Array {
  if (!known) return new Uint8Array(partBytes.length);
  part.setFloat64(layout.KNOWN_NUMBER_AT, known.number, true);
  part.setUint32(layout.KNOWN_BIRTH_AT, known.birth, true);
  part.setUint32(layout.KNOWN_LENGTH_AT, known.length, true);
  part.setUint32(layout.KNOWN_PLACE_AT, known.place, true);
  partBytes.set(known.frame, layout.KNOWN_BYTES);
  return partBytes.slice();
}

export function decodeAnswer(reply: Uint8Array): JournalAnswer {
  if (reply.length < PREFIX_BYTES) throw new OrielError("CORRUPT", `an answer of ${reply.length} bytes is truncated`);
  const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
  const status = view.getUint8(layout.ANSWER_STATUS_AT);
  const verdictsFrom = PREFIX_BYTES + (view.getUint32(layout.ANSWER_LENGTH_AT, true) === 0 ? 0 : HEADER_BYTES);
  const bytesFrom = verdictsFrom + view.getUint16(layout.ANSWER_VERDICTS_AT, true);
  if (reply.length < bytesFrom) throw new OrielError("CORRUPT", `an answer of ${reply.length} bytes is truncated`);
  const header = verdictsFrom === PREFIX_BYTES ? undefined : readHeader(reply, PREFIX_BYTES);
  if (header && status !== STATUS.foreign) checkHeader(header);
  const length = view.getUint32(layout.ANSWER_LENGTH_AT, true);
  const nowMs = view.getFloat64(layout.ANSWER_NOW_MS_AT, true);
  const answer = answerAbout(status, nowMs, header, length, reply.subarray(verdictsFrom, bytesFrom));
  if (header && !answer.header) return answer;
  answer.continued = view.getUint8(layout.ANSWER_CONTINUED_AT) === 1;
  answer.from = view.getUint32(layout.ANSWER_FROM_AT, true);
  answer.bytes = reply.subarray(bytesFrom);
  return answer;
}

/** An answer without bytes. The empty chunk that a delete leaves is none, but a guard. */
function answerAbout(
  status: number,
  nowMs: number,
  header: ChunkHeader | undefined,
  length: number,
  verdicts: Uint8Array,
): JournalAnswer {
  const isNone = header === undefined || isEmptyFirst(header, length);
  return {
    status,
    continued: false,
    from: 0,
    nowMs,
    length: isNone ? 0 : length,
    header: isNone ? undefined : header,
    guardedUntilMs: header ? guardedUntilMs(header) : Number.NEGATIVE_INFINITY,
    verdicts,
    bytes: NONE,
  };
}

/** The twin of lua/journal/answer.lua. `wanted` false: without bytes. */
export function answerOf(
  status: number,
  nowMs: number,
  chunk: ChunkBytes | undefined,
  verdicts: Uint8Array,
  wanted: boolean,
  known?: Known,
): JournalAnswer {
  const answer = answerAbout(status, nowMs, chunk?.header, chunk?.length ?? 0, verdicts);
  if (!chunk || !answer.header || !wanted) return answer;
  answer.continued = known !== undefined && agrees(chunk, known);
  answer.from = answer.continued || known?.birth === 0 ? known!.length : 0;
  answer.bytes = chunk.bytes.slice(answer.from, answer.from + constants.pageBytes);
  return answer;
}

/** Whether a chunk still begins with the known part. */
function agrees(chunk: ChunkBytes, known: Known): boolean {
  const { number, birth } = chunk.header;
  if (known.number !== number || known.birth !== birth || known.length > chunk.length) return false;
  if (known.place === 0) return true;
  const bytes = chunk.bytes;
  return known.frame.every((byte, i) => bytes[known.place + i] === byte);
}

/** Whether no event was written between two answers about a journal. */
export function isUnchanged(
  { header: a, length }: JournalAnswer,
  { header: b, length: before }: JournalAnswer,
): boolean {
  return a?.number === b?.number && a?.birth === b?.birth && length === before;
}

/** Whether the answer is about the same chunk and continues where the caller's bytes end. */
export function continuesFrom(
  { number, birth }: Pick<Known, "number" | "birth">,
  { header, continued }: JournalAnswer,
): boolean {
  return header?.number === number && header.birth === birth && continued;
}
