import { VERDICT } from "../../generated/layouts/breaker.ts";
import type { Gate, Permit } from "./gate.ts";
import type { Verdict } from "./rule.ts";

type CountingGate = Pick<Gate, "window" | "isFree" | "count" | "settle">;

/** A call that was let through. */
export interface RunningCall {
  readonly beganMs: number;
  readonly permit: Permit;
  /** The gate's window when the call began. */
  readonly window: number;
  /** Whether it was counted as slow while it ran. */
  isCounted: boolean;
}

/** How a call ended. An ignored one says nothing about the called service. */
export type Outcome = "success" | "failure" | "ignored";

/**
 * Counts calls as they end. With a slow-call condition, a call counts as slow once it has lasted `slowMs`, even if it
 * still runs. That is noticed, with the right time, when the next call begins or ends. If the call fails later, the
 * failure counts then.
 */
export class Calls {
  readonly #gate: CountingGate;
  readonly #slowMs: number;
  readonly #failuresCount: boolean;
  /** Calls that may become slow, in the order in which they began. */
  readonly #running = new Set<RunningCall>();

  /** `slowMs`: Infinity if slow calls do not count. `failuresCount`: whether a failed probe reopens the circuit. */
  constructor(gate: CountingGate, slowMs: number, failuresCount: boolean) {
    this.#gate = gate;
    this.#slowMs = slowMs;
    this.#failuresCount = failuresCount;
  }

  /** Whether a call may begin without a clock reading, as `begin(0, 0)`. A reading costs as much as the rest. */
  get isTimeless(): boolean {
    return this.#slowMs === Number.POSITIVE_INFINITY && this.#gate.isFree;
  }

  /** Counts the calls that have become slow. */
  countSlow(nowMs: number): void {
    if (this.#running.size === 0) return;
    for (const call of this.#running) {
      if (nowMs - call.beganMs <= this.#slowMs) return;
      this.#becomeSlow(call, nowMs);
    }
  }

  begin(beganMs: number, permit: Permit): RunningCall {
    const call = { beganMs, permit, window: this.#gate.window, isCounted: false };
    if (this.#slowMs !== Number.POSITIVE_INFINITY) this.#running.add(call);
    return call;
  }

  end(call: RunningCall, outcome: Outcome, nowMs: number): void {
    if (this.#slowMs !== Number.POSITIVE_INFINITY) {
      if (outcome === "ignored") this.#running.delete(call);
      this.countSlow(nowMs);
      this.#running.delete(call);
    }
    const isFailure = outcome === "failure";
    if (call.permit !== 0) {
      if (!call.isCounted) this.#gate.settle(call.permit, this.#verdictOf(outcome), nowMs);
    } else if (outcome !== "ignored" && call.window === this.#gate.window && (isFailure || !call.isCounted))
      this.#gate.count(nowMs, call.isCounted ? 0 : 1, isFailure ? 1 : 0, 0, nowMs);
    call.isCounted = true;
  }

  #becomeSlow(call: RunningCall, nowMs: number): void {
    this.#running.delete(call);
    call.isCounted = true;
    if (call.permit !== 0) this.#gate.settle(call.permit, VERDICT.failure, nowMs);
    else if (call.window === this.#gate.window) this.#gate.count(call.beganMs + this.#slowMs, 1, 0, 1, nowMs);
  }

  #verdictOf(outcome: Outcome): Verdict {
    if (outcome === "ignored") return VERDICT.ignored;
    return outcome === "failure" && this.#failuresCount ? VERDICT.failure : VERDICT.success;
  }
}
