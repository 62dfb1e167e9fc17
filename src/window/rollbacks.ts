import type { ChunkSeen } from "./chunk.ts";
import { law } from "./law.ts";

/** An answer of the store about the open chunk; no header: there is none. */
export interface Seen {
  nowMs: number;
  length: number;
  header: ChunkSeen | undefined;
}

/**
 * Holds what a process has seen of a journal against what it sees now. A journal only grows: one that is shorter, or
 * another under the same number, lost what had been acknowledged (a failover to a replica that never had it, a restored
 * backup). A journal that is gone, or begun anew, may have been deleted and says nothing.
 */
export class Rollbacks {
  #seen: { number: number; birth: number; length: number; reachMs: number } | undefined;
  #lostUntilMs = -Infinity;

  see({ header, length }: Pick<Seen, "header" | "length">): void {
    const seen = this.#seen;
    if (seen && header && header.number <= seen.number) {
      const isSame = header.number === seen.number && header.birth === seen.birth;
      if (!isSame || length < seen.length) this.#tell(seen.reachMs);
    }
    this.#seen = header && { number: header.number, birth: header.birth, length, reachMs: reachOf(header) };
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

/** No event in the chunk as it was seen is later. */
function reachOf({ clock, latestMs, lastStampMs }: ChunkSeen): number {
  return clock === 1 ? latestMs : lastStampMs + law.earlyMs;
}
