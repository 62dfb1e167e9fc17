import { sleptMs } from "../../../base/async/sleep.ts";
import type { Clock } from "../../../base/time.ts";
import type { ChunkSeen } from "../format/chunk.ts";
import { constants } from "../format/constants.ts";

/** An answer of the store about the open chunk. Without a header there is none. */
export interface Seen {
  nowMs: number;
  length: number;
  header: ChunkSeen | undefined;
}

/** The end of the journal at one answer. */
export interface JournalPosition {
  readonly number: number;
  readonly birth: number;
  readonly length: number;
  readonly coversUntilMs: number;
  /** Of the server. */
  readonly seenMs: number;
}

/**
 * Detects lost events by comparing what a process has seen of a journal with what it sees now. A journal only grows. If it is
 * shorter, or has another chunk with the same number, acknowledged events are lost (a failover to a replica that lacked them,
 * or a restored backup). A journal that is gone or was begun again may have been deleted, which is no loss.
 */
export class Rollbacks {
  #seen: JournalPosition | undefined;
  #lostUntilMs = Number.NEGATIVE_INFINITY;

  /** The latest position seen. If the answer to a request that is sent from now on is before it, events are lost. */
  get seen(): JournalPosition | undefined {
    return this.#seen;
  }

  /** `before` is the position when the request was sent. Concurrent requests are answered in any order. */
  see({ header, length, nowMs }: Seen, before: JournalPosition | undefined): void {
    if (before && header) this.#lookBack({ ...header, length }, before);
    const now = header && {
      number: header.number,
      birth: header.birth,
      length,
      coversUntilMs: coversUntilMsOf(header),
      seenMs: nowMs,
    };
    if (this.#seen === before || isAhead(now, this.#seen)) this.#seen = now;
  }

  /** Compares with a position that another process saw at `asOfMs` of the server or later. */
  compare(position: Pick<JournalPosition, "number" | "birth" | "length">, asOfMs: number): void {
    if (this.#seen && asOfMs > this.#seen.seenMs) this.#lookBack(position, this.#seen);
  }

  #lookBack(
    { number, birth, length }: Pick<JournalPosition, "number" | "birth" | "length">,
    before: JournalPosition,
  ): void {
    if (number > before.number) return;
    const isSame = number === before.number && birth === before.birth;
    if (!isSame || length < before.length) this.#addLoss(before.coversUntilMs);
  }

  /** Reports that events of this chunk are lost. */
  reportLoss(chunk: ChunkSeen): void {
    this.#addLoss(coversUntilMsOf(chunk));
  }

  /** Whether a window from `fromMs` may lack lost events. */
  affects(fromMs: number): boolean {
    return fromMs < this.#lostUntilMs;
  }

  #addLoss(coversUntilMs: number): void {
    this.#lostUntilMs = Math.max(this.#lostUntilMs, coversUntilMs);
  }
}

function isAhead(now: JournalPosition | undefined, seen: JournalPosition | undefined): boolean {
  if (!now || !seen) return false;
  return now.number > seen.number || (now.birth === seen.birth && now.length > seen.length);
}

/** The latest time that an event of the chunk, as last seen, can have. */
function coversUntilMsOf({ clock, latestMs, lastStampMs }: ChunkSeen): number {
  return clock === 1 ? latestMs : lastStampMs + constants.earlyMs;
}

/** Clocks drift apart by up to 100 ms in this time. An older estimate is not used. */
const MAX_TRUST_MS = 600_000;

/**
 * Estimates the server's clock from the TIME of the last answer and the time since then. An estimate may be wrong, because the
 * store refuses an append with a wrong time.
 */
export class ServerTime {
  readonly #monotonic: Clock;
  #isKnown = false;
  #serverMs = 0;
  /** The last stamp of the journal. It does not fall even if the server's clock is set back. */
  #lastStampMs = Number.NEGATIVE_INFINITY;
  #monotonicMs = 0;
  #wallMs = 0;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  learn({ nowMs, header }: Pick<Seen, "nowMs" | "header">): void {
    this.#isKnown = true;
    this.#serverMs = nowMs;
    this.#lastStampMs = header?.lastStampMs ?? Number.NEGATIVE_INFINITY;
    this.#monotonicMs = this.#monotonic();
    this.#wallMs = Date.now();
  }

  /** The best estimate without a request. Uses this process's clock if the server was never reached. */
  roughMs(): number {
    if (!this.#isKnown) return Date.now();
    return Math.floor(this.#serverMs + this.#monotonic() - this.#monotonicMs);
  }

  get isKnown(): boolean {
    return this.#isKnown;
  }

  /**
   * The smallest stamp of an event recorded now, unless the server's clock was set back since. Undefined if the server must be
   * asked.
   */
  estimateMs(): number | undefined {
    if (!this.#isKnown) return undefined;
    const elapsedMs = this.#monotonic() - this.#monotonicMs;
    if (elapsedMs > MAX_TRUST_MS || sleptMs(Date.now() - this.#wallMs, elapsedMs) > 0) return undefined;
    return Math.max(this.#lastStampMs, Math.floor(this.#serverMs + elapsedMs));
  }
}

export interface Instant {
  monotonicMs: number;
  wallMs: number;
}

/** How old a process's copy is, counted from just before the request that updated it was sent. */
export class Age {
  readonly #monotonic: Clock;
  /** A time before the copy was read. Each reading has another object. */
  since: Instant | undefined;

  constructor(monotonic: Clock) {
    this.#monotonic = monotonic;
  }

  now(): Instant {
    return { monotonicMs: this.#monotonic(), wallMs: Date.now() };
  }

  learn(since: Instant): void {
    this.since = since;
  }

  forget(): void {
    this.since = undefined;
  }

  /** Infinity without a copy, or if the machine slept since. */
  get ms(): number {
    if (!this.since) return Number.POSITIVE_INFINITY;
    const { monotonicMs, wallMs } = this.now();
    const elapsedMs = monotonicMs - this.since.monotonicMs;
    return sleptMs(wallMs - this.since.wallMs, elapsedMs) > 0 ? Number.POSITIVE_INFINITY : elapsedMs;
  }
}
