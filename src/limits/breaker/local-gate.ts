import type { ErrorSite } from "../../base/errors.ts";
import { Circuit } from "./circuit.ts";
import { type BreakerStats, forcedMsOf, type Gate, type OfReply, openError, type Permit } from "./gate.ts";
import { type Cause, type Command, type Rule, trips, type Verdict, type WindowCounts } from "./rule.ts";

export interface LocalGateOptions {
  rule: Rule;
  monotonic: () => number;
  /** Called with the state whenever it may have changed. `of` is absent without an answer of the store. */
  onState: (stats: BreakerStats, of?: OfReply) => void;
  /** Names the breaker in the errors of rejected calls. */
  site: ErrorSite;
  /** It is the part of one process in a shared circuit. */
  isOfShared?: boolean;
}

/** A circuit of this process alone. Its permits are negative. */
export class LocalGate implements Gate {
  window = 0;
  readonly #rule: Rule;
  readonly #circuit: Circuit;
  readonly #options: LocalGateOptions;
  #lastPermit = 0;

  constructor(options: LocalGateOptions) {
    this.#options = options;
    this.#rule = options.rule;
    this.#circuit = new Circuit(Math.floor(options.monotonic()));
  }

  get isFree(): boolean {
    return this.#circuit.state === "closed";
  }

  enter(nowMs: number): Permit {
    if (this.isFree) return 0;
    const circuit = this.#advanced(nowMs);
    const permit = --this.#lastPermit;
    const isGranted = circuit.grantProbes(this.#rule, [String(permit)], Math.floor(nowMs)) === 1;
    this.#reportState(nowMs);
    if (!isGranted) {
      const { site, isOfShared } = this.#options;
      throw openError(circuit.waitMs(this.#rule, Math.floor(nowMs)), site, isOfShared);
    }
    return permit;
  }

  count(atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean {
    if (!this.countOnly(atMs, calls, failures, slow, nowMs)) return false;
    this.#circuit.decide(this.#rule, Math.floor(nowMs));
    if (this.#circuit.state !== "closed") this.#reportState(nowMs);
    return true;
  }

  /** Counts without a decision. Returns whether the calls were counted. */
  countOnly(atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean {
    return this.#advanced(nowMs).count(this.#rule, atMs, calls, failures, slow, Math.floor(nowMs));
  }

  settle(permit: Permit, verdict: Verdict, nowMs: number): void {
    const circuit = this.#advanced(nowMs);
    const before = circuit.state;
    circuit.settle(this.#rule, String(permit), verdict, Math.floor(nowMs));
    if (circuit.state === before) return;
    if (circuit.state === "closed") this.window++;
    this.#reportState(nowMs);
  }

  /** Takes over the shared state: open until then, or closed. */
  adopt(isOpen: boolean, nowMs: number, untilMs = nowMs, opened?: WindowCounts & { cause: Cause }): void {
    this.#advanced(nowMs).adopt(isOpen, Math.floor(nowMs), Math.ceil(untilMs), opened);
  }

  /** Nothing opens it until then. */
  hold(untilMs: number): void {
    this.#circuit.heldUntilMs = Math.ceil(untilMs);
  }

  /** Whether its calls meet the rule, with any number of them. */
  sees(nowMs: number): boolean {
    const { state, tally } = this.#advanced(nowMs);
    return state !== "closed" || trips(this.#rule, tally, 1);
  }

  stats(nowMs: number): BreakerStats {
    this.#advanced(nowMs);
    return this.#stats(nowMs);
  }

  async flush(): Promise<void> {}

  async ready(): Promise<void> {}

  async order(command: Command, forMs: number): Promise<void> {
    const nowMs = this.#options.monotonic();
    const circuit = this.#advanced(nowMs);
    const before = circuit.epoch;
    circuit.obey(this.#rule, command, forMs, Math.floor(nowMs));
    if (circuit.state === "closed" && circuit.epoch !== before) this.window++;
    this.#reportState(nowMs);
  }

  #advanced(nowMs: number): Circuit {
    this.#circuit.advance(this.#rule, Math.floor(nowMs));
    return this.#circuit;
  }

  #reportState(nowMs: number): void {
    this.#options.onState(this.#stats(nowMs));
  }

  #stats(nowMs: number): BreakerStats {
    const { state, cause, heldUntilMs } = this.#circuit;
    const { calls, failures, slow } = this.#circuit.counts;
    const retryAfterMs = this.#circuit.waitMs(this.#rule, Math.floor(nowMs));
    const forcedMs = forcedMsOf(state, cause, retryAfterMs, Math.max(0, heldUntilMs - Math.floor(nowMs)));
    return { state, calls, failures, slow, retryAfterMs, forcedMs, processes: 0, failing: 0, degraded: false };
  }
}
