import { setTimeout as pause } from "node:timers/promises";
import { onShiftedClock } from "../harness/clock/stepped-script.ts";
import type { Random } from "../simulator/world/random.ts";

/** A process whose monotonic clock sometimes stands still, like an isolate's between two requests. */
export class Frozen {
  #sinceMs: number | undefined;
  #lostMs = 0;
  readonly monotonic = () => (this.#sinceMs ?? performance.now()) - this.#lostMs;

  async freeze(ms: number): Promise<void> {
    this.#sinceMs ??= performance.now();
    await pause(ms);
    if (this.#sinceMs !== undefined) this.#lostMs += performance.now() - this.#sinceMs;
    this.#sinceMs = undefined;
  }
}

const DAY_MS = 86_400_000;
const LONGEST_STEP_MS = 60_000;

/** The servers' clock: the machine's, or one near a future noon that is set forward and back by up to a minute. */
export class ServerClock {
  readonly canStep: boolean;
  isStepped = false;
  #aheadMs = 0;
  #maxMs = 0;

  constructor(canStep: boolean) {
    this.canStep = canStep;
    if (!canStep) return;
    const nowMs = Date.now();
    // No step and no time of day moves it into another hour or day.
    this.#aheadMs = Math.ceil(nowMs / DAY_MS) * DAY_MS + DAY_MS / 2 + 1_800_000 - nowMs;
    this.#maxMs = this.#aheadMs;
  }

  get options() {
    return this.canStep ? { scriptOf: onShiftedClock(() => this.#aheadMs) } : {};
  }

  nowMs(): number {
    return Date.now() + this.#aheadMs;
  }

  step(random: Random): void {
    this.isStepped = true;
    this.#aheadMs += random.int(-LONGEST_STEP_MS, LONGEST_STEP_MS);
    this.#maxMs = Math.max(this.#maxMs, this.#aheadMs);
  }

  /** As late as it ever was. */
  settle(): void {
    this.#aheadMs = this.#maxMs;
  }
}
