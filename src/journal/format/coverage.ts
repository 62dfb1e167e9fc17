import type { Degraded } from "../../stats/window-stats.ts";
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
