import { reasonOf } from "./reason.ts";

/** Pauses between probes: half of it or more at random, so that many processes do not ask a returning server at once. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;
/** A probe that began so long after it was due was begun by a call: no timer of this runtime outlives a request. */
const TIMERS_SLACK_MS = 250;

/** A server that cannot be used, from the first deadline that went by without an answer to the next answer. */
export class Outage {
  /** Ms since 1970. */
  readonly since = Date.now();
  readonly address: string | undefined;
  /** The key of a call that failed: a probe asks for it. */
  readonly key: string;
  cause: unknown;
  #failures = 0;
  /** Until then a probe is under way, or none is due. */
  #restUntilMs = Number.NEGATIVE_INFINITY;

  constructor(address: string | undefined, key: string, cause: unknown) {
    this.address = address;
    this.key = key;
    this.cause = cause;
  }

  get reason(): string {
    return reasonOf(this.cause)?.text ?? (this.cause instanceof Error ? this.cause.message : "no answer");
  }

  /** Until a probe may begin. */
  restMs(nowMs: number): number {
    return Math.max(0, this.#restUntilMs - nowMs);
  }

  /** Whether a probe of at most `longestMs` may begin: one at a time. */
  begin(nowMs: number, longestMs: number): boolean {
    if (nowMs < this.#restUntilMs) return false;
    this.#restUntilMs = nowMs + longestMs;
    return true;
  }

  /** Whether a call must be the probe, as the timers are not heard of. */
  beginByCall(nowMs: number, longestMs: number): boolean {
    return this.begin(nowMs - TIMERS_SLACK_MS, longestMs + TIMERS_SLACK_MS);
  }

  /** Who probed does so no more: the next who asks may begin. */
  release(): void {
    this.#restUntilMs = Number.NEGATIVE_INFINITY;
  }

  /** A probe has ended without an answer. */
  failed(nowMs: number, cause: unknown): void {
    // What says nothing does not take the place of a reason.
    if (reasonOf(cause) || !reasonOf(this.cause)) this.cause = cause ?? this.cause;
    const longestMs = Math.min(FIRST_PAUSE_MS * 2 ** this.#failures, LONGEST_PAUSE_MS);
    this.#failures = Math.min(this.#failures + 1, 10);
    this.#restUntilMs = nowMs + longestMs * (0.5 + Math.random() / 2);
  }
}
