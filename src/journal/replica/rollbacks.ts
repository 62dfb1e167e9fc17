import type { ChunkSeen } from "../format/chunk.ts";
import { law } from "../format/law.ts";

/** An answer of the store about the open chunk; no header: there is none. */
export interface Seen {
  nowMs: number;
  length: number;
  header: ChunkSeen | undefined;
}

/** How far the journal went at one answer. */
export interface Place {
  readonly number: number;
  readonly birth: number;
  readonly length: number;
  readonly reachMs: number;
}

/**
 * Holds what a process has seen of a journal against what it sees now. A journal only grows: one that is shorter, or
 * another under the same number, lost what had been acknowledged (a failover to a replica that never had it, a restored
 * backup). A journal that is gone, or begun anew, may have been deleted and says nothing.
 */
export class Rollbacks {
  #seen: Place | undefined;
  #lostUntilMs = -Infinity;

  /** What the answer to a request that is sent now must not fall behind. */
  get seen(): Place | undefined {
    return this.#seen;
  }

  /** `before`: what had been seen when it was asked for. Requests that are under way at once are answered in any order. */
  see({ header, length }: Pick<Seen, "header" | "length">, before: Place | undefined): void {
    if (before && header && header.number <= before.number) {
      const isSame = header.number === before.number && header.birth === before.birth;
      if (!isSame || length < before.length) this.#tell(before.reachMs);
    }
    const now = header && { number: header.number, birth: header.birth, length, reachMs: reachOf(header) };
    if (this.#seen === before || isAhead(now, this.#seen)) this.#seen = now;
  }

  /** What a copy holds of this chunk is no longer there. */
  tell(chunk: ChunkSeen): void {
    this.#tell(reachOf(chunk));
  }

  /** Whether a window from `fromMs` may lack what was lost. */
  reach(fromMs: number): boolean {
    return fromMs < this.#lostUntilMs;
  }

  #tell(reachMs: number): void {
    this.#lostUntilMs = Math.max(this.#lostUntilMs, reachMs);
  }
}

function isAhead(now: Place | undefined, seen: Place | undefined): boolean {
  if (!now || !seen) return false;
  return now.number > seen.number || (now.birth === seen.birth && now.length > seen.length);
}

/** No event in the chunk as it was seen is later. */
function reachOf({ clock, latestMs, lastStampMs }: ChunkSeen): number {
  return clock === 1 ? latestMs : lastStampMs + law.earlyMs;
}
