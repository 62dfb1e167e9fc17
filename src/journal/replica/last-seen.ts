import { sleptMs } from "../../async/sleep.ts";
import type { Clock } from "../../time.ts";
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

/** Clocks drift apart by up to 100 ms in this time; what was learnt before is asked anew. */
const LONGEST_TRUST_MS = 600_000;

/**
 * What a process knows of the server's clock: the last answer's TIME, and how long ago that was here. Nothing is proved
 * by it: the store refuses an append whose time is wrong.
 */
export class ServerTime {
  readonly #monotonic: Clock;
  #isKnown = false;
  #serverMs = 0;
  /** Of the journal: it does not fall, also where the server's clock was set back. */
  #lastStampMs = -Infinity;
  #monotonicMs = 0;
  #wallMs = 0;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  learn({ nowMs, header }: Pick<Seen, "nowMs" | "header">): void {
    this.#isKnown = true;
    this.#serverMs = nowMs;
    this.#lastStampMs = header?.lastStampMs ?? -Infinity;
    this.#monotonicMs = this.#monotonic();
    this.#wallMs = Date.now();
  }

  /** As well as can be told without asking; by this process's own clock where the server was never reached. */
  roughMs(): number {
    if (!this.#isKnown) return Date.now();
    return Math.floor(this.#serverMs + this.#monotonic() - this.#monotonicMs);
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  /**
   * The stamp that an event recorded now would get at least, unless the server's clock was set back since; undefined when
   * it must be asked.
   */
  estimateMs(): number | undefined {
    if (!this.#isKnown) return undefined;
    const elapsedMs = this.#monotonic() - this.#monotonicMs;
    if (elapsedMs > LONGEST_TRUST_MS || sleptMs(Date.now() - this.#wallMs, elapsedMs) > 0) return undefined;
    return Math.max(this.#lastStampMs, Math.floor(this.#serverMs + elapsedMs));
  }
}

export interface Instant {
  monotonicMs: number;
  wallMs: number;
}

/** How old what a process holds may be: counted from before the store was asked. */
export class Age {
  readonly #monotonic: Clock;
  #since: Instant | undefined;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  now(): Instant {
    return { monotonicMs: this.#monotonic(), wallMs: Date.now() };
  }

  learn(since: Instant): void {
    this.#since = since;
  }

  forget(): void {
    this.#since = undefined;
  }

  /** Infinity when nothing is held, or the machine slept meanwhile. */
  get ms(): number {
    if (!this.#since) return Infinity;
    const { monotonicMs, wallMs } = this.now();
    const elapsedMs = monotonicMs - this.#since.monotonicMs;
    return sleptMs(wallMs - this.#since.wallMs, elapsedMs) > 0 ? Infinity : elapsedMs;
  }
}
