import type { Handed } from "./exchange.ts";
import type { Permit } from "./gate.ts";
import { type Rule, tickOf, VERDICT, type Verdict } from "./rule.ts";
import { SlidingTally } from "./tally.ts";

/** Records of one batch; more wait for the next. */
const MOST_RECORDS = 1024;
/** Verdicts that wait for the store; of more the oldest are left to the leases' ends. */
const MOST_SETTLED = 256;

/**
 * What one process has gathered since the store last answered. A batch stays as it is, with its number, until it is known
 * to have come; its ages are reckoned anew each time it is sent.
 */
export class Gathered {
  #id: string | undefined;
  readonly #rule: Rule;
  readonly #tally = new SlidingTally();
  #batch: Float64Array = new Float64Array();
  #sequence = 0;
  #settled: { number: Permit; verdict: Verdict }[] = [];
  #firstPermit = 1;

  constructor(rule: Rule) {
    this.#rule = rule;
  }

  /** Of the process; 60 random bits, in ASCII. Drawn when it is used: Workers draw nothing while a module is loaded. */
  get id(): string {
    this.#id ??= crypto.randomUUID().replaceAll("-", "").slice(-16);
    return this.#id;
  }

  /** What is in no batch yet. */
  get waiting(): SlidingTally {
    return this.#tally;
  }

  /** Whether there is more than the next handing in will wait for. */
  get isUrgent(): boolean {
    return this.#settled.length > 0 || this.#tally.count > MOST_RECORDS;
  }

  get isEmpty(): boolean {
    return this.#settled.length === 0 && this.#tally.count === 0 && this.#batch.length === 0;
  }

  count(atMs: number, calls: number, failures: number, slow: number): void {
    this.#tally.add(tickOf(this.#rule, atMs), calls, failures, slow);
  }

  settle(permit: Permit, verdict: Verdict): void {
    if (this.#settled.length >= MOST_SETTLED) this.#settled.shift();
    this.#settled.push({ number: permit, verdict });
  }

  /** What is sent now, with so many probes asked for. */
  hand(wanted: number, nowMs: number): Handed {
    if (this.#batch.length === 0) {
      this.#tally.dropThrough(nowMs - this.#rule.spanMs - this.#rule.tickMs);
      this.#batch = this.#tally.cut(MOST_RECORDS);
      if (this.#batch.length > 0) this.#sequence++;
    }
    const batch = Array.from(this.#batch, (value, i) => (i % 4 === 0 ? ageMsOf(value, nowMs) : value));
    const first = this.#firstPermit;
    this.#firstPermit = (first + wanted) % 2 ** 31 || 1;
    const sequence = batch.length > 0 ? this.#sequence : 0;
    return { rule: this.#rule, id: this.id, sequence, batch, settled: [...this.#settled], wanted, first };
  }

  /** The store has it. */
  took({ sequence, settled }: Handed): void {
    // In Workers another answer may have come before.
    if (sequence === this.#sequence) this.#batch = new Float64Array();
    this.#settled = this.#settled.filter(({ number }) => !settled.some((each) => each.number === number));
  }

  /** The store may have it: probes that it may have granted are given back; the rest is sent again. */
  missed({ first, wanted }: Handed): void {
    for (let i = 0; i < wanted; i++) this.settle(first + i, VERDICT.void);
  }

  /** What was counted in a window that is over. */
  forget(): void {
    this.#tally.clear();
  }
}

/** Times before a clock stepped back are no age. */
function ageMsOf(atMs: number, nowMs: number): number {
  return Math.min(2 ** 32 - 1, Math.max(0, nowMs - atMs));
}
