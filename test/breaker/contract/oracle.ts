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
  protected readonly rule: Rule;
  readonly #counted: Counted[] = [];
  /** Probes that have failed since the circuit was closed. */
  #failedProbes = 0;

  constructor(rule: Rule) {
    this.rule = rule;
  }

  /** The calls inside the window. */
  window(nowMs: number): Omit<Counted, "atMs"> {
    const { state } = this;
    const inside = this.#counted.filter(({ atMs }) => {
      const isInside = atMs > nowMs - this.rule.spanMs && atMs <= nowMs;
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
    if (this.add(more, nowMs) && this.isMet(nowMs)) this.trip(nowMs);
  }

  /** Counts without a decision. Returns whether any of it is inside the window. */
  add(more: readonly Counted[], nowMs: number): boolean {
    if (this.state.name !== "closed") return false;
    const { sinceMs } = this.state;
    const admitted = more.filter(({ atMs }) => atMs > nowMs - this.rule.spanMs && atMs >= sinceMs);
    this.#counted.push(...admitted);
    return admitted.length > 0;
  }

  /** Whether the window meets the rule. */
  isMet(nowMs: number, minimumCalls: number = this.rule.minimumCalls): boolean {
    const { calls, failures, slow } = this.window(nowMs);
    const { failureRatio, slowRatio } = this.rule;
    const exceeds = (part: number, ratio: number) => (ratio === 1 ? part === calls : part > ratio * calls);
    const isMuch = calls >= minimumCalls && (exceeds(failures, failureRatio) || exceeds(slow, slowRatio));
    return isMuch || failures >= this.rule.failures;
  }

  /** Whether a call may pass: freely, as a probe, or not. */
  enter(name: string, nowMs: number): "free" | "probe" | "no" {
    this.lapse(nowMs);
    if (this.state.name === "closed") return "free";
    if (this.state.name === "open") {
      if (nowMs < this.state.untilMs) return "no";
      this.state = { name: "half-open", good: 0, leases: new Map() };
    }
    if (this.state.good + this.state.leases.size >= this.rule.probes) return "no";
    this.state.leases.set(name, nowMs + this.rule.leaseMs);
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
    if (isBad) {
      this.#failedProbes++;
      this.trip(nowMs);
    } else if (++this.state.good === this.rule.probes) this.close(nowMs);
  }

  /** Each failed probe makes the cooldown longer. Without jitter. */
  protected trip(nowMs: number): void {
    const { cooldownMs, factor, longestMs } = this.rule;
    const grownMs = Math.min(longestMs, cooldownMs * factor ** this.#failedProbes);
    this.state = { name: "open", untilMs: nowMs + grownMs };
  }

  protected close(nowMs: number): void {
    this.#failedProbes = 0;
    this.state = { name: "closed", sinceMs: nowMs };
  }
}

/** The parts of a span by whose ends a process leaves that has not called. */
const STEPS = 16;

/** The last words of a process: when, and whether its own calls meet the rule, with any number of them. */
interface Voice {
  atMs: number;
  sees: boolean;
}

/**
 * A circuit of several processes that report at once. With a quorum each process has a circuit of its own besides, by its own calls.
 * The one of all opens if, of the processes that called within a span, more than the quorum see failures.
 */
export class FleetOracle extends Oracle {
  own: Oracle[];
  readonly #hasQuorum: boolean;
  readonly #bornMs: number;
  readonly #voices = new Map<number, Voice>();

  constructor(rule: Rule, processes: number, nowMs: number) {
    super(rule);
    this.#bornMs = nowMs;
    this.#hasQuorum = rule.quorum <= 1;
    this.own = Array.from({ length: processes }, () => new Oracle(rule));
  }

  /** The state that a process goes by. */
  stateOf(process: number): OracleState["name"] {
    const isOwn = this.#hasQuorum && this.state.name === "closed";
    return isOwn ? this.own[process]!.state.name : this.state.name;
  }

  voices(nowMs: number): { processes: number; failing: number } {
    const step = (atMs: number) => Math.floor(((atMs - this.#bornMs) * STEPS) / this.rule.spanMs);
    const lately = [...this.#voices.values()].filter(({ atMs }) => step(nowMs) - step(atMs) <= STEPS);
    return { processes: lately.length, failing: lately.filter(({ sees }) => sees).length };
  }

  override lapse(nowMs: number): void {
    super.lapse(nowMs);
    for (const each of this.own ?? []) each.lapse(nowMs);
  }

  override isMet(nowMs: number): boolean {
    if (!this.#hasQuorum) return super.isMet(nowMs);
    const { calls, failures } = this.window(nowMs);
    const { processes, failing } = this.voices(nowMs);
    const { quorum } = this.rule;
    const isMost = quorum === 1 ? failing === processes : failing > quorum * processes;
    return isMost && (calls >= this.rule.minimumCalls || failures >= this.rule.failures);
  }

  /** A call of a process begins. "own": it is a probe of the process alone. */
  enterOf(process: number, name: string, nowMs: number): "free" | "probe" | "own" | "no" {
    const own = this.own[process]!;
    if (!this.#hasQuorum || this.state.name !== "closed" || own.state.name === "closed") return this.enter(name, nowMs);
    const entered = own.enter(name, nowMs);
    this.#say(process, nowMs);
    return entered === "probe" ? "own" : "no";
  }

  /** A call of a process ends that was no probe. */
  countOf(process: number, counted: Counted, nowMs: number): void {
    if (this.state.name !== "closed") return;
    const own = this.own[process]!;
    if (this.#hasQuorum && own.state.name !== "closed") return;
    if (this.#hasQuorum) own.count([counted], nowMs);
    else own.add([counted], nowMs);
    this.#voices.set(process, { atMs: nowMs, sees: this.#sees(process, nowMs) });
    this.count([counted], nowMs);
  }

  #say(process: number, nowMs: number): void {
    this.#voices.set(process, { atMs: nowMs, sees: this.#sees(process, nowMs) });
    if (this.state.name === "closed" && this.isMet(nowMs)) this.trip(nowMs);
  }

  #sees(process: number, nowMs: number): boolean {
    const own = this.own[process]!;
    return own.state.name !== "closed" || own.isMet(nowMs, 1);
  }

  protected override close(nowMs: number): void {
    super.close(nowMs);
    this.#voices.clear();
    this.own = this.own.map(() => Object.assign(new Oracle(this.rule), { state: { name: "closed", sinceMs: nowMs } }));
  }
}
