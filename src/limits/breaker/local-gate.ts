import type { ErrorSite } from "../../base/errors.ts";
import { COMMAND } from "../../generated/layouts/breaker.ts";
import { Circuit, type WindowCounts } from "./circuit.ts";
import type { Command } from "./flush-format.ts";
import { type BreakerStats, type Gate, openError, type Permit } from "./gate.ts";
import type { Rule, Verdict } from "./rule.ts";

export interface LocalGateOptions {
  rule: Rule;
  monotonic: () => number;
  /** Called with the state whenever it may have changed. */
  /** `epoch`: the store's number of the state, about its time when the state began; absent without an answer of the store. */
  onState: (stats: BreakerStats, epoch?: number) => void;
  /** Names the breaker in the errors of rejected calls. */
  site: ErrorSite;
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
    if (!isGranted) throw openError(circuit.waitMs(this.#rule, Math.floor(nowMs)), this.#options.site);
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
  adopt(isOpen: boolean, nowMs: number, untilMs = nowMs, opened?: WindowCounts): void {
    this.#advanced(nowMs).adopt(isOpen, Math.floor(nowMs), Math.ceil(untilMs), opened);
  }

  stats(nowMs: number): BreakerStats {
    this.#advanced(nowMs);
    return this.#stats(nowMs);
  }

  async flush(): Promise<void> {}

  async order(command: Command): Promise<void> {
    const nowMs = this.#options.monotonic();
    const circuit = this.#advanced(nowMs);
    const before = circuit.state;
    if (command === COMMAND.open) circuit.open(this.#rule, Math.floor(nowMs));
    else circuit.close(this.#rule, Math.floor(nowMs));
    if (circuit.state === "closed" && before !== "closed") this.window++;
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
    const { state } = this.#circuit;
    const { calls, failures, slow } = this.#circuit.counts;
    return { state, calls, failures, slow, retryAfterMs: this.#circuit.waitMs(this.#rule, Math.floor(nowMs)) };
  }
}
