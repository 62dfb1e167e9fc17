import { corruptError } from "../../errors.ts";
import { refusal } from "../../store/refusal.ts";
import type { ChunkHeader } from "../format/chunk.ts";
import { HEADER_BYTES } from "../format/chunk.ts";
import { constants } from "../format/constants.ts";
import { Dedupe } from "../format/dedupe.ts";
import { type FrameParts, noParts, readFrame, TIMES_AFTER_BASE } from "../format/frames.ts";

export const BOUND_TEXT = 'the bound of statistics inside Redis: use a shorter span, or where: "client"';

export interface WindowChunk {
  key: string;
  header: ChunkHeader;
  /** All bytes, including its header. */
  bytes: Uint8Array;
}

/**
 * Returns the values of events from `minMs` to `maxMs`, both included, in the order of the journal. `chunks` are oldest first.
 * Throws TOO_LARGE and CORRUPT. The twin of lua/journal/inside.lua.
 */
export function valuesInside(chunks: readonly WindowChunk[], minMs: number, maxMs: number): number[] {
  const values: number[] = [];
  const dedupe = new Dedupe();
  const parts = noParts();
  for (const { key, header, bytes } of chunks) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = HEADER_BYTES; at < bytes.length; at += parts.size) {
      const found = readFrame(view, at, header.valueType, parts);
      if (found !== "whole")
        throw corrupt(key, header, found === "cut" ? "ends within a frame" : "has foreign bytes", at);
      const stampMs = header.createdMs + parts.sinceCreationMs;
      // An older event without its own time is outside, and so is every copy of it.
      if (parts.baseAt < 0 && stampMs <= minMs - constants.dedupeMs) continue;
      if (dedupe.admit(parts.producer, parts.sequence, stampMs))
        take(values, view, parts, header.valueType, stampMs, minMs, maxMs);
      if (values.length > constants.maxServerEvents) throw tooManyEvents();
    }
  }
  return values;
}

function take(
  values: number[],
  view: DataView,
  { count, baseAt, valuesAt }: FrameParts,
  valueType: number,
  stampMs: number,
  minMs: number,
  maxMs: number,
): void {
  const baseMs = baseAt < 0 ? stampMs : view.getFloat64(baseAt, true);
  for (let i = 0; i < count; i++) {
    const ms = baseAt < 0 ? stampMs : baseMs + view.getUint32(baseAt + TIMES_AFTER_BASE + 4 * i, true);
    if (ms < minMs || ms > maxMs) continue;
    values.push(valueType === 1 ? view.getFloat64(valuesAt + 8 * i, true) : view.getFloat32(valuesAt + 4 * i, true));
  }
}

function tooManyEvents() {
  return refusal("TOO_LARGE", `the window has more than ${constants.maxServerEvents} events, ${BOUND_TEXT}`);
}

function corrupt(key: string, { number }: ChunkHeader, what: string, at: number) {
  return corruptError(key, `chunk ${number} ${what} at byte ${at}`);
}
