import { corruptError } from "../../errors.ts";
import { refusal } from "../../store/refusal.ts";
import type { ChunkHeader } from "../format/chunk.ts";
import { HEADER_BYTES } from "../format/chunk.ts";
import { Dedupe } from "../format/dedupe.ts";
import { type FrameParts, noParts, readFrame, TIMES_AFTER_BASE } from "../format/frames.ts";
import { law } from "../format/law.ts";

export const BOUND_TEXT = 'the bound of what is computed inside Redis: ask for a shorter span, or with where: "client"';

export interface WindowChunk {
  key: string;
  header: ChunkHeader;
  /** All of it, its header among them. */
  bytes: Uint8Array;
}

/**
 * The values of events from `leastMs` to `mostMs`, both inside, in the order of the journal, of chunks that are given
 * oldest first; the twin of lua/journal/inside.lua. TOO_LARGE, CORRUPT.
 */
export function valuesInside(chunks: readonly WindowChunk[], leastMs: number, mostMs: number): number[] {
  const values: number[] = [];
  const dedupe = new Dedupe();
  const parts = noParts();
  for (const { key, header, bytes } of chunks) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = HEADER_BYTES; at < bytes.length; at += parts.size) {
      const found = readFrame(view, at, header.valueType, parts);
      if (found !== "whole") throw corrupt(key, header, found === "cut" ? "ends within a frame" : "holds no frame", at);
      const stampMs = header.createdMs + parts.sinceCreationMs;
      // What is not dated and older than this is outside, and so is every copy of it.
      if (parts.baseAt < 0 && stampMs <= leastMs - law.dedupeMs) continue;
      if (dedupe.admit(parts.producer, parts.sequence, stampMs))
        take(values, view, parts, header.valueType, stampMs, leastMs, mostMs);
      if (values.length > law.mostServerEvents) throw tooMany();
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
  leastMs: number,
  mostMs: number,
): void {
  const baseMs = baseAt < 0 ? stampMs : view.getFloat64(baseAt, true);
  for (let i = 0; i < count; i++) {
    const ms = baseAt < 0 ? stampMs : baseMs + view.getUint32(baseAt + TIMES_AFTER_BASE + 4 * i, true);
    if (ms < leastMs || ms > mostMs) continue;
    values.push(valueType === 1 ? view.getFloat64(valuesAt + 8 * i, true) : view.getFloat32(valuesAt + 4 * i, true));
  }
}

function tooMany() {
  return refusal("TOO_LARGE", `the window holds more than ${law.mostServerEvents} events, ${BOUND_TEXT}`);
}

function corrupt(key: string, { number }: ChunkHeader, what: string, at: number) {
  return corruptError(key, `chunk ${number} ${what} at byte ${at}`);
}
