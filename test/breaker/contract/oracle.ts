import type { Rule } from "../../../src/limits/breaker/rule.ts";

/** One counted call: its time and its outcome. */
export interface Counted {
  atMs: number;
  calls: number;
  failures: number;
  slow: number;
}

type OracleState = { name: "closed"; sinceMs: number } | { name: "open"; untilMs: number } | HalfOpen;
interface HalfOpen {
  name: "half-open";
  good: number;
  leases: Map<string, number>;
}

/** A circuit from its definition alone: a list of every counted call, scanned at each decision. */
export class Oracle {
  state: OracleState = { name: "closed", sinceMs: 0 };
  readonly #rule: Rule;
  readonly #counted: Counted[] = [];

  constructor(rule: Rule) {
    this.#rule = rule;
  }

  /** The calls inside the window. */
  window(nowMs: number): Omit<Counted, "atMs"> {
    const { state } = this;
    const inside = this.#counted.filter(({ atMs }) => {
      const isInside = atMs > nowMs - this.#rule.spanMs && atMs <= nowMs;
      return isInside && state.name === "closed" && atMs >= state.sinceMs;
    });
    const sum = (of: (each: Counted) => number) => inside.reduce((total, each) => total + of(each), 0);
    return { calls: sum((each) => each.calls), failures: sum((each) => each.failures), slow: sum((each) => each.slow) };
  }

  lapse(nowMs: number): void {
    if (this.state.name !== "half-open") return;
    const ends = [...this.state.leases.values()];
    if (ends.some((endMs) => endMs <= nowMs)) this.state = { name: "open", untilMs: nowMs };
  }

  count(more: readonly Counted[], nowMs: number): void {
    if (this.state.name !== "closed") return;
    const { sinceMs } = this.state;
    const admitted = more.filter(({ atMs }) => atMs > nowMs - this.#rule.spanMs && atMs >= sinceMs);
    this.#counted.push(...admitted);
    const { calls, failures, slow } = this.window(nowMs);
    const { minimumCalls, failureRatio, slowRatio } = this.#rule;
    const exceeds = (part: number, ratio: number) => (ratio === 1 ? part === calls : part > ratio * calls);
    const isMuch = calls >= minimumCalls && (exceeds(failures, failureRatio) || exceeds(slow, slowRatio));
    if (admitted.length > 0 && (isMuch || failures >= this.#rule.failures))
      this.state = { name: "open", untilMs: nowMs + this.#rule.cooldownMs };
  }

  /** Whether a call may pass: freely, as a probe, or not. */
  enter(name: string, nowMs: number): "free" | "probe" | "no" {
    this.lapse(nowMs);
    if (this.state.name === "closed") return "free";
    if (this.state.name === "open") {
      if (nowMs < this.state.untilMs) return "no";
      this.state = { name: "half-open", good: 0, leases: new Map() };
    }
    if (this.state.good + this.state.leases.size >= this.#rule.probes) return "no";
    this.state.leases.set(name, nowMs + this.#rule.leaseMs);
    return "probe";
  }

  /** An ignored call: nothing is counted, a probe's place is free again. */
  ignore(name: string, nowMs: number): void {
    this.lapse(nowMs);
    if (this.state.name === "half-open") this.state.leases.delete(name);
  }

  settle(name: string, isBad: boolean, nowMs: number): void {
    this.lapse(nowMs);
    if (this.state.name !== "half-open" || !this.state.leases.delete(name)) return;
    if (isBad) this.state = { name: "open", untilMs: nowMs + this.#rule.cooldownMs };
    else if (++this.state.good === this.#rule.probes) this.state = { name: "closed", sinceMs: nowMs };
  }
}
