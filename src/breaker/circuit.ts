import { cutoffMsOf, type Rule, tickOf, tripsOn, VERDICT, type Verdict } from "./rule.ts";
import { SlidingTally } from "./tally.ts";

export type BreakerState = "closed" | "open" | "half-open";

/** Calls of a window. */
export interface Counts {
  readonly calls: number;
  readonly failures: number;
  readonly slow: number;
}

/**
 * The law of a circuit, on one clock of whole ms; the twin of lua/breaker/flush.lua, and all there is of a breaker without
 * a store. `look` comes first in each step: it brings the state to the present.
 */
export class Circuit {
  state: BreakerState = "closed";
  /** Grows with each change of state. */
  epoch: number;
  /** Open: until when. */
  untilMs = 0;
  /** What was counted before is of an earlier window. */
  sinceMs = Number.NEGATIVE_INFINITY;
  /** Of a closed circuit. */
  readonly tally = new SlidingTally();
  /** Half-open: which probes are under way, and until when their leases last. */
  readonly permits = new Map<string, number>();
  /** Half-open: probes that ended well. */
  good = 0;
  #opened: Counts = { calls: 0, failures: 0, slow: 0 };
  #stampMs: number;

  constructor(nowMs: number) {
    this.epoch = nowMs;
    this.#stampMs = nowMs;
  }

  /**
   * In a clock that steps back no time passes; by how much it did, ms. A lease that is over reopens the circuit, and
   * whoever calls next may probe.
   */
  look(rule: Rule, nowMs: number): number {
    const behindMs = Math.max(0, this.#stampMs - nowMs);
    this.#stampMs = nowMs;
    if (behindMs > 0) this.#moveBack(behindMs);
    if (this.state === "closed") this.tally.dropThrough(cutoffMsOf(rule, nowMs));
    else if (this.state === "half-open" && this.#hasLapsed(nowMs)) this.#reopen(nowMs, nowMs);
    return behindMs;
  }

  /** What became of a probe. One that is not under way any more changes nothing. */
  settle(rule: Rule, token: string, verdict: Verdict, nowMs: number): void {
    if (!this.permits.delete(token)) return;
    if (verdict === VERDICT.bad) this.#reopen(nowMs, nowMs + rule.cooldownMs);
    else if (verdict === VERDICT.good) this.good++;
    if (this.state === "half-open" && this.good >= rule.probes) this.#close(rule, nowMs);
  }

  /** Counts what belongs to the window; whether it does. */
  count(rule: Rule, atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean {
    const tickMs = tickOf(rule, atMs);
    if (this.state !== "closed" || tickMs < this.sinceMs || tickMs <= cutoffMsOf(rule, nowMs)) return false;
    this.tally.add(tickMs, calls, failures, slow);
    return true;
  }

  /** In the window; where it is not closed, what the window held that opened it. */
  get counts(): Counts {
    return this.state === "closed" ? this.tally : this.#opened;
  }

  /** Comes after whatever was counted. */
  decide(rule: Rule, nowMs: number): void {
    if (this.state === "closed" && tripsOn(rule, this.tally)) this.#reopen(nowMs, nowMs + rule.cooldownMs);
  }

  /** Of the probes asked for, the first so many may begin. */
  permit(rule: Rule, tokens: readonly string[], nowMs: number): number {
    if (this.state === "open" && nowMs >= this.untilMs && tokens.length > 0) this.#enter("half-open", nowMs);
    if (this.state !== "half-open") return 0;
    const granted = tokens.slice(0, Math.max(0, this.#room(rule)));
    for (const token of granted) this.permits.set(token, nowMs + rule.leaseMs);
    return granted.length;
  }

  /** After so long asking for a probe is worthwhile. */
  waitMs(rule: Rule, nowMs: number): number {
    if (this.state === "open") return Math.max(0, this.untilMs - nowMs);
    if (this.state === "closed" || this.#room(rule) > 0) return 0;
    return Math.min(...this.permits.values()) - nowMs;
  }

  /** What another has decided: open until then, or closed; what is closed already keeps its window. */
  assume(isOpen: boolean, nowMs: number, untilMs: number, opened?: Counts): void {
    if (isOpen) this.#reopen(nowMs, untilMs);
    if (isOpen && opened) this.#opened = opened;
    if (!isOpen && this.state !== "closed") this.#enter("closed", nowMs);
  }

  #hasLapsed(nowMs: number): boolean {
    for (const endMs of this.permits.values()) if (endMs <= nowMs) return true;
    return false;
  }

  /** At least one where none is under way: some of those that ended well may have been of a rule with more probes. */
  #room(rule: Rule): number {
    return Math.max(rule.probes - this.good, this.permits.size === 0 ? 1 : 0) - this.permits.size;
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
    this.good = 0;
    this.permits.clear();
    this.tally.clear();
  }

  #moveBack(byMs: number): void {
    this.untilMs -= byMs;
    this.sinceMs -= byMs;
    this.tally.moveBack(byMs);
    for (const [token, endMs] of this.permits) this.permits.set(token, endMs - byMs);
  }
}
