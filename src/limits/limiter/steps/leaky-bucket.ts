import { KIND, MAX_LEVEL } from "../../../generated/layouts/limiter.ts";
import type { StateContext } from "./rule.ts";
import { STATE_BYTES, StoredPolicyState, type StoredState } from "./state.ts";

interface StoredLevel extends StoredState {
  atMs: number;
  /** Permits times `spanMs`. */
  level: number;
  spanMs: number;
}

/** Leaky bucket and GCRA. The twin of lua/limiter/leaky-bucket.lua, which states the rules. */
export class LeakyBucketState extends StoredPolicyState<StoredLevel> {
  /** The level at `#atMs`. */
  used = 0;
  readonly #atMs: number;

  constructor(context: StateContext) {
    super(context, KIND.leaky);
    const { rule, nowMs } = context;
    const { stored } = this;
    this.#atMs = Math.max(nowMs, stored?.atMs ?? nowMs);
    if (stored) this.used = Math.max(0, levelIn(rule.spanMs, stored) - (this.#atMs - stored.atMs) * rule.rate);
  }

  get free(): number {
    const { limit, spanMs } = this.context.rule;
    return Math.floor((limit * spanMs - this.used) / spanMs);
  }

  waitMs(permits: number): number {
    const { rule, nowMs } = this.context;
    if (permits > rule.limit) return Number.POSITIVE_INFINITY;
    return Math.ceil((this.used + (permits - rule.limit) * rule.spanMs) / rule.rate) + this.#atMs - nowMs;
  }

  resetMs(): number {
    return this.used > 0 ? this.#endMs - this.context.nowMs : 0;
  }

  take(calls: number, cost: number): void {
    this.used = Math.min(this.used + calls * cost * this.context.rule.spanMs, MAX_LEVEL);
    this.write();
  }

  giveBack(permits: number): void {
    this.used = Math.max(0, this.used - permits * this.context.rule.spanMs);
    this.write();
  }

  write(): void {
    const { used: level } = this;
    const { spanMs } = this.context.rule;
    this.store({ kind: KIND.leaky, atMs: this.#atMs, level, spanMs }, level > 0 ? this.#endMs : 0, STATE_BYTES);
  }

  /** When the bucket is empty. */
  get #endMs(): number {
    return this.#atMs + Math.ceil(this.used / this.context.rule.rate);
  }
}

/** The stored level in units of another span, rounded up to whole ones. */
function levelIn(spanMs: number, { level, spanMs: storedSpanMs }: StoredLevel): number {
  if (storedSpanMs === spanMs) return level;
  return Math.floor(level / storedSpanMs) * spanMs + Math.ceil(((level % storedSpanMs) * spanMs) / storedSpanMs);
}
