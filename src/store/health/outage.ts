import { isOutOfQuota, reasonOf } from "./reason.ts";

/**
 * Bounds of the pause between probes. It is random, at least half, so that many processes do not ask a recovering
 * server at once.
 */
const FIRST_PAUSE_MS = 50;
const MAX_PAUSE_MS = 1000;
/** A probe uses up what is left of a quota. */
const MAX_QUOTA_PAUSE_MS = 60_000;
/** A call begins a probe that is overdue by this time. In Workers no timer outlives its request. */
const TIMERS_SLACK_MS = 250;

/** The outage of a server, from the first deadline without an answer to the next answer. */
export class Outage {
  /** Ms since 1970. */
  readonly since = Date.now();
  readonly address: string | undefined;
  /** The key of a failed call, which probes ask for. */
  readonly key: string;
  cause: unknown;
  #failures = 0;
  /** Until this time a probe is under way, or none is due. */
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(address: string | undefined, key: string, cause: unknown) {
    this.address = address;
    this.key = key;
    this.cause = cause;
  }

  get reason(): string {
    return reasonOf(this.cause)?.text ?? (this.cause instanceof Error ? this.cause.message : "no answer");
  }

  /** Ms until a probe may begin. */
  restMs(nowMs: number): number {
    return Math.max(0, this.#restUntilMs - nowMs);
  }

  /** Begins a probe of at most `maxMs`. Returns false if one is under way or none is due. */
  begin(nowMs: number, maxMs: number): boolean {
    if (nowMs < this.#restUntilMs) return false;
    this.#restUntilMs = nowMs + maxMs;
    return true;
  }

  /** Same, for a call. It begins a probe that is overdue because its timer did not fire. */
  beginByCall(nowMs: number, maxMs: number): boolean {
    return this.begin(nowMs - TIMERS_SLACK_MS, maxMs + TIMERS_SLACK_MS);
  }

  /** Ends the probing by this store. The next store may begin a probe at once. */
  release(): void {
    this.#restUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** Called if a probe ended without an answer. */
  failed(nowMs: number, cause: unknown): void {
    // An unknown cause does not replace a known reason.
    if (reasonOf(cause) || !reasonOf(this.cause)) this.cause = cause ?? this.cause;
    const longestMs = isOutOfQuota(this.cause) ? MAX_QUOTA_PAUSE_MS : MAX_PAUSE_MS;
    const maxMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, longestMs);
    this.#failures = Math.min(this.#failures + 1, 10);
    const { retryAfterMs = 0 } = Object(this.cause) as { retryAfterMs?: number };
    this.#restUntilMs = nowMs + Math.max(maxMs * (0.5 + Math.random() / 2), Math.min(retryAfterMs, MAX_QUOTA_PAUSE_MS));
  }
}
