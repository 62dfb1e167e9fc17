import { KIND, MAX_RECORDS, TOTAL_MODULUS } from "../../../generated/layouts/limiter.ts";
import { refusal } from "../../../store/refusal.ts";
import type { StateContext } from "./rule.ts";
import { RECORD_BYTES, SlidingLog } from "./sliding-log.ts";
import { StoredPolicyState } from "./state.ts";

/** Exact sliding window. The twin of lua/limiter/sliding-window.lua, which states the rules. */
export class SlidingWindowState extends StoredPolicyState<SlidingLog> {
  used: number;
  readonly #log: SlidingLog;
  /** The longest span of any call so far. */
  readonly #longestMs: number;
  readonly #atMs: number;
  readonly #usedBefore: number;
  #newestMs: number;

  constructor(context: StateContext) {
    super(context, KIND.sliding);
    const { rule, nowMs } = context;
    this.#log = this.stored ?? new SlidingLog();
    this.#longestMs = Math.max(this.#log.longestMs, rule.spanMs);
    this.#atMs = Math.max(nowMs, this.#log.newestMs);
    this.#newestMs = this.#log.newestMs;
    this.#usedBefore = this.#log.usedAfter(this.#atMs - rule.spanMs);
    this.used = this.#usedBefore;
  }

  get free(): number {
    return this.context.rule.limit - this.used;
  }

  waitMs(permits: number): number {
    const { rule, nowMs } = this.context;
    if (permits > rule.limit) return Number.POSITIVE_INFINITY;
    const needed = this.used + permits - rule.limit;
    const isOfThisStep = needed > this.#usedBefore;
    const releaseMs = isOfThisStep ? this.#atMs : this.#log.timeOfRelease(this.#atMs - rule.spanMs, needed);
    return releaseMs + rule.spanMs - nowMs;
  }

  resetMs(): number {
    return this.used > 0 ? this.#newestMs + this.context.rule.spanMs - this.context.nowMs : 0;
  }

  take(calls: number, cost: number): void {
    if (calls * cost === 0) return;
    const cutoffMs = this.#atMs - this.#longestMs;
    if (this.#log.recordsAfter(cutoffMs) >= MAX_RECORDS) throw windowFullError();
    const permits = Math.min(calls * cost, TOTAL_MODULUS - 1 - this.#log.usedAfter(cutoffMs));
    this.#newestMs = this.#atMs;
    this.used += permits;
    this.#setKey(RECORD_BYTES);
    this.context.afterStep(() => this.#log.put(this.#atMs, permits, cutoffMs));
  }

  giveBack(permits: number): void {
    const given = Math.min(permits, this.used);
    if (given === 0) return;
    this.used -= given;
    this.#newestMs = this.#log.newestAfterGivingBack(given, this.#atMs);
    this.#setKey(0);
    this.context.afterStep(() => this.#log.giveBack(given, this.#atMs));
  }

  write(): void {
    this.#setKey(0);
  }

  /** The log changes in place, but only when all keys of the step are set. A step that a full store refuses changes nothing. */
  #setKey(addedBytes: number): void {
    const { blockedUntilMs, reservedUntilMs } = this;
    const { keys, key, nowMs, afterStep } = this.context;
    const longestMs = this.#longestMs;
    const expireAtMs = this.expireAtMs(this.#newestMs + longestMs);
    if (expireAtMs > nowMs) keys.set(key, this.#log, this.#log.sizeBytes + addedBytes, expireAtMs);
    else keys.delete(key);
    afterStep(() => Object.assign(this.#log, { longestMs, blockedUntilMs, reservedUntilMs }));
  }
}

function windowFullError(): Error {
  return refusal("OVERLOADED", `the sliding window is full: it has ${MAX_RECORDS} ms with permits, its maximum`);
}
