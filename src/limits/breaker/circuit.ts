import { CAUSE, COMMAND, GOLDEN, ID_BYTES, VERDICT } from "../../generated/layouts/breaker.ts";
import type { Census } from "./census.ts";
import {
  type Cause,
  type Command,
  cutoffMsOf,
  hasQuorum,
  type Rule,
  tickOf,
  trips,
  tripsByQuorum,
  type Verdict,
  type Voices,
  type WindowCounts,
} from "./rule.ts";
import { SlidingTally } from "./tally.ts";
import type { Turns } from "./turns.ts";

/** State of a circuit: calls pass, calls are rejected, or probes are tried. */
export type BreakerState = "closed" | "open" | "half-open";

/**
 * The states of a circuit, on one clock of whole ms. The twin of lua/breaker/flush.lua. A breaker without a store has
 * nothing else. Each step begins with `advance`, which brings the state to the present.
 */
export class Circuit {
  state: BreakerState = "closed";
  /** Grows with each state change. */
  epoch: number;
  /** Open: the end of the cooldown. Half-open: since when probes are granted, or the last one failed. */
  untilMs = 0;
  /** What opened it last. */
  cause: Cause = CAUSE.calls;
  /** An order keeps a closed circuit closed until then. */
  heldUntilMs = Number.NEGATIVE_INFINITY;
  /** Start of the window. Earlier events belong to an earlier window. */
  sinceMs = Number.NEGATIVE_INFINITY;
  /** Counts of a closed circuit. */
  readonly tally = new SlidingTally();
  /** Half-open: the running probes, with the ends of their leases. In a shared circuit their names begin with the process. */
  readonly probes = new Map<string, number>();
  /** Half-open: number of successful probes. */
  successes = 0;
  /** The cooldown before jitter; 0: the circuit has closed since. */
  #grownMs = 0;
  #opened: WindowCounts = { calls: 0, failures: 0, slow: 0 };
  #stampMs: number;

  /** The processes of a shared circuit. */
  readonly #census: Census | undefined;
  readonly #turns: Turns | undefined;

  constructor(nowMs: number, census?: Census, turns?: Turns) {
    this.#census = census;
    this.#turns = turns;
    this.epoch = nowMs;
    this.#stampMs = nowMs;
  }

  /**
   * Returns by how many ms the clock stepped back. No time passes in such a step. A probe whose lease is over has failed. If that
   * opens the circuit, the next call may probe.
   */
  advance(rule: Rule, nowMs: number): number {
    const behindMs = Math.max(0, this.#stampMs - nowMs);
    this.#stampMs = nowMs;
    if (behindMs > 0) this.#moveBack(behindMs);
    this.#census?.advance(rule, nowMs, behindMs, this.state === "closed");
    if (this.state === "closed") this.tally.dropThrough(cutoffMsOf(rule, nowMs));
    else this.#lapse(rule, nowMs);
    return behindMs;
  }

  /** Records the end of a probe. A probe that no longer runs changes nothing. */
  settle(rule: Rule, token: string, verdict: Verdict, nowMs: number): void {
    if (!this.probes.delete(token)) return;
    if (verdict === VERDICT.success) this.successes++;
    else if (verdict === VERDICT.failure && this.#fails(rule, token, nowMs)) this.#cool(rule, CAUSE.probe, nowMs);
    if (this.state === "half-open" && this.#ended >= rule.probes) this.#close(rule, nowMs);
  }

  /** Counts calls if they belong to the window. Returns whether they do. */
  count(rule: Rule, atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean {
    const tickMs = tickOf(rule, atMs);
    if (this.state !== "closed" || tickMs < this.sinceMs || tickMs <= cutoffMsOf(rule, nowMs)) return false;
    this.tally.add(tickMs, calls, failures, slow);
    return true;
  }

  /** The window's counts; if the circuit is not closed, the counts that opened it. */
  get counts(): WindowCounts {
    return this.state === "closed" ? this.tally : this.#opened;
  }

  /** Opens the circuit if its window says so, or with a quorum its processes. Called after each count. */
  decide(rule: Rule, nowMs: number): void {
    if (this.state !== "closed" || nowMs < this.heldUntilMs) return;
    const voices = hasQuorum(rule) && this.#voices(rule, nowMs);
    if (voices ? tripsByQuorum(rule, this.tally, voices) : trips(rule, this.tally))
      this.#cool(rule, CAUSE.calls, nowMs);
  }

  /** Processes that see failures report first. So for a span after the circuit has closed, as many count as before. */
  #voices({ spanMs }: Rule, nowMs: number): Voices | undefined {
    if (!this.#census || nowMs - this.sinceMs >= spanMs) return this.#census;
    const { callers, former, seeing } = this.#census;
    return { callers: Math.max(callers, former), seeing };
  }

  /** Starts as many of a process's probes as there is room for, first ones first. Returns their number. */
  grantProbes(rule: Rule, tokens: readonly string[], nowMs: number): number {
    if (this.state !== "closed" && tokens[0]) this.#turns?.noteAsker(processOf(tokens[0]));
    if (this.state === "open" && nowMs >= this.untilMs && tokens.length > 0) this.#enter("half-open", nowMs);
    if (this.state !== "half-open" || this.waitMs(rule, nowMs, tokens[0]) > 0) return 0;
    const granted = tokens.slice(0, Math.max(0, this.#room(rule)));
    for (const token of granted) this.probes.set(token, nowMs + rule.leaseMs);
    return granted.length;
  }

  /** Ms until a probe may be granted. `token`: the process whose probe it is, or one of its probes. */
  waitMs(rule: Rule, nowMs: number, token = ""): number {
    if (this.state === "closed") return 0;
    if (this.state === "open") return Math.max(0, this.untilMs - nowMs);
    const turnMs = this.#turns?.waitMs(rule, processOf(token), this.epoch, this.#grownMs) ?? 0;
    const freeMs = this.#room(rule) > 0 ? nowMs : Math.min(...this.probes.values());
    return Math.max(0, this.untilMs + turnMs - nowMs, freeMs - nowMs);
  }

  /**
   * Obeys an order. `open`: for `forMs`, or for a cooldown if that is 0, whatever the state. `close`: with an empty window, and for
   * `forMs` nothing opens it. A closed circuit keeps its window, unless the order is `reset`.
   */
  obey(rule: Rule, command: Command, forMs: number, nowMs: number): void {
    if (command === COMMAND.none) return;
    if (command === COMMAND.open) {
      this.#cool(rule, CAUSE.order, nowMs);
      if (forMs > 0) this.untilMs = nowMs + forMs;
    } else if (command === COMMAND.reset || this.state !== "closed") this.#close(rule, nowMs);
    this.heldUntilMs = command === COMMAND.close && forMs > 0 ? nowMs + forMs : Number.NEGATIVE_INFINITY;
  }

  /** Takes over the shared state: open until `untilMs`, or closed. A closed circuit keeps its window. */
  adopt(isOpen: boolean, nowMs: number, untilMs: number, opened?: WindowCounts & { cause: Cause }): void {
    if (isOpen) this.#reopen(nowMs, untilMs);
    if (isOpen && opened) {
      const { calls, failures, slow, cause } = opened;
      this.#opened = { calls, failures, slow };
      this.cause = cause;
    }
    if (!isOpen && this.state !== "closed") this.#enter("closed", nowMs);
  }

  /** Probes of this round that succeeded, and processes whose probes failed. */
  get #ended(): number {
    return this.successes + (this.#turns?.failed ?? 0);
  }

  /** Notes a failed probe. Returns whether the circuit opens. */
  #fails(rule: Rule, token: string, nowMs: number): boolean {
    this.untilMs = nowMs;
    return this.#turns?.fails(rule, processOf(token)) ?? true;
  }

  /** Gives up the probes whose leases are over. No cooldown becomes longer by that. */
  #lapse(rule: Rule, nowMs: number): void {
    for (const [token, endMs] of this.probes) {
      if (endMs > nowMs) continue;
      this.probes.delete(token);
      if (this.#fails(rule, token, nowMs)) {
        this.#reopen(nowMs, nowMs);
        this.cause = CAUSE.probe;
      } else if (this.#ended >= rule.probes) this.#close(rule, nowMs);
    }
  }

  /** At least 1 while no probe runs: successes may have been counted under a rule with more probes. */
  #room(rule: Rule): number {
    return Math.max(rule.probes - this.#ended, this.probes.size === 0 ? 1 : 0) - this.probes.size;
  }

  /**
   * Opens for a cooldown, which a failed probe makes longer. Jitter makes it shorter, by a fraction that differs for each
   * opening.
   */
  #cool(rule: Rule, cause: Cause, nowMs: number): void {
    const { cooldownMs, factor, longestMs, jitter } = rule;
    const isLonger = cause === CAUSE.probe && this.#grownMs > 0;
    const grownMs = isLonger ? Math.floor(Math.min(longestMs, this.#grownMs * factor)) : cooldownMs;
    this.#enter("open", nowMs);
    this.cause = cause;
    if (cause !== CAUSE.probe) this.#turns?.clear();
    this.#grownMs = grownMs;
    this.untilMs = nowMs + Math.max(1, Math.floor(grownMs * (1 - jitter * ((this.epoch * GOLDEN) % 1))));
  }

  #reopen(nowMs: number, untilMs: number): void {
    this.#enter("open", nowMs);
    this.untilMs = untilMs;
  }

  #close(rule: Rule, nowMs: number): void {
    this.#enter("closed", nowMs);
    this.sinceMs = tickOf(rule, nowMs);
  }

  #enter(state: BreakerState, nowMs: number): void {
    if (this.state === "closed") {
      const { calls, failures, slow } = this.tally;
      this.#opened = { calls, failures, slow };
    }
    this.state = state;
    this.epoch = Math.max(this.epoch + 1, nowMs);
    this.successes = 0;
    if (this.#turns) this.#turns.failed = 0;
    if (state === "closed") {
      this.#grownMs = 0;
      this.#turns?.clear();
      this.#census?.clear();
    }
    this.probes.clear();
    this.tally.clear();
  }

  #moveBack(byMs: number): void {
    this.untilMs -= byMs;
    this.heldUntilMs -= byMs;
    this.sinceMs -= byMs;
    this.tally.moveBack(byMs);
    for (const [token, endMs] of this.probes) this.probes.set(token, endMs - byMs);
  }
}

/** A process's id, from the name of its probe. */
function processOf(token: string): string {
  return token.slice(0, ID_BYTES);
}
