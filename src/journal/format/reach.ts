import type { ChunkHeader } from "./chunk.ts";
import { law } from "./law.ts";

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
