import { KIND, MAX_LEVEL } from "../../../generated/layouts/limiter.ts";
import type { StateContext } from "./rule.ts";
import { STATE_BYTES, StoredPolicyState, type StoredState } from "./state.ts";

/** A number of permits that counts until the end of its window. */
export abstract class CountedWindowState<Stored extends StoredState> extends StoredPolicyState<Stored> {
  used = 0;
  abstract readonly endMs: number;

  get free(): number {
    return this.context.rule.limit - this.used;
  }

  waitMs(permits: number): number {
    return permits > this.context.rule.limit ? Number.POSITIVE_INFINITY : this.endMs - this.context.nowMs;
  }

  resetMs(): number {
    return this.used > 0 ? this.endMs - this.context.nowMs : 0;
  }

  take(calls: number, cost: number): void {
    this.used = Math.min(this.used + calls * cost, MAX_LEVEL);
    this.write();
  }

  giveBack(permits: number): void {
    this.used = Math.max(0, this.used - permits);
    this.write();
  }
}

interface StoredWindow extends StoredState {
  startMs: number;
  used: number;
}

/** Fixed window. The twin of lua/limiter/fixed-window.lua, which states the rules. */
export class FixedWindowState extends CountedWindowState<StoredWindow> {
  readonly endMs: number;
  readonly #startMs: number;

  constructor(context: StateContext) {
    super(context, KIND.fixed);
    const { rule, nowMs } = context;
    const { spanMs, isAligned } = rule;
    const { stored } = this;
    const storedStartMs = stored?.startMs ?? Number.NEGATIVE_INFINITY;
    const atMs = Math.max(nowMs, storedStartMs);
    const isOpen = stored !== undefined && stored.used > 0 && storedStartMs + spanMs > atMs;
    const firstMs = isAligned ? atMs - (atMs % spanMs) : isOpen ? storedStartMs : nowMs;
    this.used = stored && storedStartMs >= firstMs ? stored.used : 0;
    this.#startMs = isAligned ? Math.max(storedStartMs, firstMs) : firstMs;
    this.endMs = firstMs + spanMs;
  }

  write(): void {
    const { used } = this;
    this.store({ kind: KIND.fixed, startMs: this.#startMs, used }, used > 0 ? this.endMs : 0, STATE_BYTES);
  }
}
