import type { Gate, Permit } from "./gate.ts";
import { VERDICT, type Verdict } from "./rule.ts";

/** A call that was let through. */
export interface RunningCall {
  readonly beganMs: number;
  readonly permit: Permit;
  /** Of the gate, when it began. */
  readonly window: number;
  /** It was counted while it ran, as it was slow. */
  isCounted: boolean;
}

/** How a call ended; `neither` says nothing about the other side. */
export type Ending = "good" | "failed" | "neither";

/**
 * Counts calls as they end. Where slow calls count, one counts when it has lasted `slowMs`, whether or not it has ended by
 * then: it is noticed, with its own time, when the next call begins or ends. If it fails later, the failure counts then.
 */
export class Calls {
  readonly #gate: Gate;
  readonly #slowMs: number;
  readonly #blamesFailures: boolean;
  /** In the order in which they began, as they become slow. */
  readonly #running = new Set<RunningCall>();

  /** `slowMs` is Infinity where slow calls do not count; a probe is bad where it is slow, or, `blamesFailures`, fails. */
  constructor(gate: Gate, slowMs: number, blamesFailures: boolean) {
    this.#gate = gate;
    this.#slowMs = slowMs;
    this.#blamesFailures = blamesFailures;
  }

  /** A call may begin without a look at the clock, which costs as much as the rest: `begin(0, 0)`. */
  get isTimeless(): boolean {
    return this.#slowMs === Infinity && this.#gate.isFree;
  }

  /** Counts those that have become slow. */
  look(nowMs: number): void {
    if (this.#running.size === 0) return;
    for (const call of this.#running) {
      if (nowMs - call.beganMs <= this.#slowMs) return;
      this.#becomeSlow(call, nowMs);
    }
  }

  begin(beganMs: number, permit: Permit): RunningCall {
    const call = { beganMs, permit, window: this.#gate.window, isCounted: false };
    if (this.#slowMs !== Infinity) this.#running.add(call);
    return call;
  }

  end(call: RunningCall, ending: Ending, nowMs: number): void {
    if (this.#slowMs !== Infinity) {
      if (ending === "neither") this.#running.delete(call);
      this.look(nowMs);
      this.#running.delete(call);
    }
    const isFailure = ending === "failed";
    if (call.permit !== 0) {
      if (!call.isCounted) this.#gate.settle(call.permit, this.#verdictOf(ending), nowMs);
    } else if (ending !== "neither" && call.window === this.#gate.window && (isFailure || !call.isCounted))
      this.#gate.count(nowMs, call.isCounted ? 0 : 1, isFailure ? 1 : 0, 0, nowMs);
    call.isCounted = true;
  }

  #becomeSlow(call: RunningCall, nowMs: number): void {
    this.#running.delete(call);
    call.isCounted = true;
    if (call.permit !== 0) this.#gate.settle(call.permit, VERDICT.bad, nowMs);
    else if (call.window === this.#gate.window) this.#gate.count(call.beganMs + this.#slowMs, 1, 0, 1, nowMs);
  }

  #verdictOf(ending: Ending): Verdict {
    if (ending === "neither") return VERDICT.void;
    return ending === "failed" && this.#blamesFailures ? VERDICT.bad : VERDICT.good;
  }
}
