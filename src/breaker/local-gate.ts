import type { ErrorPlace } from "../errors.ts";
import { Circuit, type Counts } from "./circuit.ts";
import { type BreakerStats, type Gate, openError, type Permit } from "./gate.ts";
import type { Rule, Verdict } from "./rule.ts";

/** A circuit of this process alone. Its permits are below 0. */
export class LocalGate implements Gate {
  window = 0;
  readonly #rule: Rule;
  readonly #circuit: Circuit;
  readonly #onState: (stats: BreakerStats) => void;
  readonly #place: ErrorPlace;
  #lastPermit = 0;

  /** `onState` is told the state whenever it may have changed. */
  constructor(rule: Rule, nowMs: number, onState: (stats: BreakerStats) => void, place: ErrorPlace) {
    this.#rule = rule;
    this.#circuit = new Circuit(Math.floor(nowMs));
    this.#onState = onState;
    this.#place = place;
  }

  get isFree(): boolean {
    return this.#circuit.state === "closed";
  }

  enter(nowMs: number): Permit {
    if (this.isFree) return 0;
    const circuit = this.#look(nowMs);
    const permit = --this.#lastPermit;
    const isGranted = circuit.permit(this.#rule, [String(permit)], Math.floor(nowMs)) === 1;
    this.#tell(nowMs);
    if (!isGranted) throw openError(circuit.waitMs(this.#rule, Math.floor(nowMs)), this.#place);
    return permit;
  }

  count(atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean {
    if (!this.note(atMs, calls, failures, slow, nowMs)) return false;
    this.#circuit.decide(this.#rule, Math.floor(nowMs));
    if (this.#circuit.state !== "closed") this.#tell(nowMs);
    return true;
  }

  /** Counts without deciding; whether it was counted. */
  note(atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean {
    return this.#look(nowMs).count(this.#rule, atMs, calls, failures, slow, Math.floor(nowMs));
  }

  settle(permit: Permit, verdict: Verdict, nowMs: number): void {
    const circuit = this.#look(nowMs);
    const before = circuit.state;
    circuit.settle(this.#rule, String(permit), verdict, Math.floor(nowMs));
    if (circuit.state === before) return;
    if (circuit.state === "closed") this.window++;
    this.#tell(nowMs);
  }

  /** Takes over what the fleet has decided: open until then, or closed. */
  assume(isOpen: boolean, nowMs: number, untilMs = nowMs, opened?: Counts): void {
    this.#look(nowMs).assume(isOpen, Math.floor(nowMs), Math.ceil(untilMs), opened);
  }

  stats(nowMs: number): BreakerStats {
    this.#look(nowMs);
    return this.#stats(nowMs);
  }

  async flush(): Promise<void> {}

  #look(nowMs: number): Circuit {
    this.#circuit.look(this.#rule, Math.floor(nowMs));
    return this.#circuit;
  }

  #tell(nowMs: number): void {
    this.#onState(this.#stats(nowMs));
  }

  #stats(nowMs: number): BreakerStats {
    const { state } = this.#circuit;
    const { calls, failures, slow } = this.#circuit.counts;
    return { state, calls, failures, slow, retryAfterMs: this.#circuit.waitMs(this.#rule, Math.floor(nowMs)) };
  }
}
