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
  /** Since when probes pass: the end of the cooldown, or the last probe that failed without opening it. */
  sinceMs: number;
  good: number;
  /** Processes whose probes failed. */
  failed: Set<number>;
  leases: Map<string, { process: number; endMs: number }>;
}

/** A circuit from its definition alone: a list of every counted call, scanned at each decision. */
export class Oracle {
  state: OracleState = { name: "closed", sinceMs: 0 };
  protected readonly rule: Rule;
  /** The length of the last cooldown. */
  protected grownMs = 0;
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
    const lapsed = [...this.state.leases].filter(([, { endMs }]) => endMs <= nowMs);
    for (const [name, { process }] of lapsed) {
      if (!this.state.leases.delete(name)) continue;
      if (this.fails(this.state, process, nowMs)) {
        this.state = { name: "open", untilMs: nowMs };
        return;
      }
    }
    this.#closeIfEnded(nowMs);
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
  enter(name: string, nowMs: number, process = 0): "free" | "probe" | "no" {
    this.lapse(nowMs);
    if (this.state.name === "closed") return "free";
    if (this.state.name === "open") {
      if (nowMs < this.state.untilMs) return "no";
      const sinceMs = this.state.untilMs;
      this.state = { name: "half-open", sinceMs, good: 0, failed: new Set(), leases: new Map() };
    }
    const { leases, sinceMs } = this.state;
    if (!this.mayPass(nowMs) || nowMs < sinceMs + this.waitMs(process)) return "no";
    leases.set(name, { process, endMs: nowMs + this.rule.leaseMs });
    return "probe";
  }

  /** Whether a probe of any process may pass. */
  protected mayPass(nowMs: number): boolean {
    if (this.state.name === "open") return nowMs >= this.state.untilMs;
    if (this.state.name === "closed") return false;
    const { good, failed, leases } = this.state;
    return good + failed.size + leases.size < this.rule.probes;
  }

  /** Ms for which a process waits while others may probe. */
  protected waitMs(_process: number): number {
    return 0;
  }

  /** A probe of a process failed. Returns whether the circuit opens. */
  protected fails(_round: HalfOpen, _process: number, _nowMs: number): boolean {
    return true;
  }

  /** An ignored call: nothing is counted, a probe's place is free again. */
  ignore(name: string, nowMs: number): void {
    this.lapse(nowMs);
    if (this.state.name === "half-open") this.state.leases.delete(name);
  }

  settle(name: string, isBad: boolean, nowMs: number): void {
    this.lapse(nowMs);
    if (this.state.name !== "half-open") return;
    const lease = this.state.leases.get(name);
    if (!this.state.leases.delete(name) || !lease) return;
    if (!isBad) this.state.good++;
    else if (this.fails(this.state, lease.process, nowMs)) {
      this.#failedProbes++;
      this.trip(nowMs);
    }
    this.#closeIfEnded(nowMs);
  }

  #closeIfEnded(nowMs: number): void {
    if (this.state.name === "half-open" && this.state.good + this.state.failed.size === this.rule.probes)
      this.close(nowMs);
  }

  /** Each failed probe makes the cooldown longer. Without jitter. */
  protected trip(nowMs: number): void {
    const { cooldownMs, factor, longestMs } = this.rule;
    this.grownMs = Math.min(longestMs, cooldownMs * factor ** this.#failedProbes);
    this.state = { name: "open", untilMs: nowMs + this.grownMs };
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
 * The one of all opens if, of the processes that called within a span, more than the quorum see failures. Half-open, it opens again if
 * more than the quorum of the probes, or of those processes, have failed. A process whose probe failed lets others go first for a
 * cooldown. The order of the others is left out: with cooldowns below 16 ms, all may probe at once.
 */
export class FleetOracle extends Oracle {
  own: Oracle[];
  readonly #hasQuorum: boolean;
  readonly #bornMs: number;
  readonly #voices = new Map<number, Voice>();
  /** Processes that called lately when it opened. */
  #callers = 0;
  /** The same of the last opening, while it is closed. */
  #former = 0;
  /** Those whose probes failed, in this round or, if none has yet, in the last one. */
  #last: ReadonlySet<number> = new Set();

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
    const { quorum, spanMs } = this.rule;
    const isNew = this.state.name === "closed" && nowMs - this.state.sinceMs < spanMs;
    const fleet = Math.max(processes, isNew ? this.#former : 0);
    const isMost = quorum === 1 ? failing === fleet : failing > quorum * fleet;
    return isMost && (calls >= this.rule.minimumCalls || failures >= this.rule.failures);
  }

  /** A call of a process begins. "own": it is a probe of the process alone. */
  enterOf(process: number, name: string, nowMs: number): "free" | "probe" | "own" | "no" {
    const own = this.own[process]!;
    const isOfAll = !this.#hasQuorum || this.state.name !== "closed" || own.state.name === "closed";
    if (isOfAll) {
      // It asks if its last answer said that a probe may pass. So there is one more than those whose probes failed.
      const isAnother = this.#last.size > 0 && !this.#last.has(process);
      if (isAnother && this.mayPass(nowMs)) this.#callers = Math.max(this.#callers, this.#last.size + 1);
      return this.enter(name, nowMs, process);
    }
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

  /** Whether a process waits for others to probe. */
  waitsForOthers(process: number): boolean {
    return this.waitMs(process) > 0;
  }

  protected override waitMs(process: number): number {
    return this.#callers > 1 && this.#last.has(process) ? this.grownMs : 0;
  }

  protected override fails(round: HalfOpen, process: number, nowMs: number): boolean {
    if (!this.#hasQuorum) return true;
    round.failed.add(process);
    round.sinceMs = nowMs;
    this.#last = round.failed;
    const { quorum, probes } = this.rule;
    const asked = Math.max(1, Math.min(probes, this.#callers));
    return quorum === 1 ? round.failed.size === asked : round.failed.size > quorum * asked;
  }

  protected override trip(nowMs: number): void {
    if (this.state.name === "closed") this.#callers = this.voices(nowMs).processes;
    super.trip(nowMs);
  }

  protected override close(nowMs: number): void {
    super.close(nowMs);
    this.#voices.clear();
    this.#last = new Set();
    this.#former = this.#callers;
    this.own = this.own.map(() => Object.assign(new Oracle(this.rule), { state: { name: "closed", sinceMs: nowMs } }));
  }
}
