import { EPOCH_MODULUS, VERDICT } from "../../generated/layouts/breaker.ts";
import type { FlushReply, FlushRequest } from "./flush-format.ts";
import type { Permit } from "./gate.ts";
import { type Rule, tickOf, type Verdict } from "./rule.ts";
import { SlidingTally } from "./tally.ts";

/** Records of one batch. More wait for the next batch. */
const MAX_RECORDS = 1024;
/** Ended probes that wait for the store. Beyond it, the oldest ones end with their leases instead. */
const MAX_SETTLED = 256;

/**
 * The calls and probe results of one process that the store does not have yet. A batch keeps its records and its number
 * until the store has confirmed it. Its ages are computed anew each time it is sent.
 */
export class PendingReport {
  #id: string | undefined;
  readonly #rule: Rule;
  readonly #tally = new SlidingTally();
  #batch: Float64Array = new Float64Array();
  #sequence = 0;
  #settled: { number: Permit; verdict: Verdict }[] = [];
  #firstPermit = 1;
  /** The place of the process, and the epoch, as the last reply had them. */
  #place = 0;
  #window = 0;
  /** Whether a call was rejected by this process alone since the last report. */
  #hasTried = false;

  constructor(rule: Rule) {
    this.#rule = rule;
  }

  /** The process: 60 random bits, in ASCII. Drawn at the first use, because Workers draw nothing while a module loads. */
  get id(): string {
    this.#id ??= crypto.randomUUID().replaceAll("-", "").slice(-16);
    return this.#id;
  }

  /** Calls that are in no batch yet. */
  get unbatched(): SlidingTally {
    return this.#tally;
  }

  /** Whether the next report should follow at once. */
  get isUrgent(): boolean {
    return this.#settled.length > 0 || this.#tally.count > MAX_RECORDS;
  }

  get isEmpty(): boolean {
    return this.#settled.length === 0 && this.#tally.count === 0 && this.#batch.length === 0;
  }

  count(atMs: number, calls: number, failures: number, slow: number): void {
    this.#tally.add(tickOf(this.#rule, atMs), calls, failures, slow);
  }

  settle(permit: Permit, verdict: Verdict): void {
    if (this.#settled.length >= MAX_SETTLED) this.#settled.shift();
    this.#settled.push({ number: permit, verdict });
  }

  /** A call that this process rejected by itself. It is no call of the service, but the process is one that called lately. */
  noteTry(): void {
    this.#hasTried = true;
  }

  /** The request to send now, which asks for `wanted` probes. `sees`: whether this process sees failures. */
  begin(wanted: number, nowMs: number, sees: boolean): FlushRequest {
    if (this.#batch.length === 0) {
      this.#tally.dropThrough(nowMs - this.#rule.spanMs - this.#rule.tickMs);
      this.#batch = this.#tally.cut(MAX_RECORDS);
      if (this.#batch.length > 0 || this.#hasTried) this.#sequence++;
    }
    const batch = Array.from(this.#batch, (value, i) => (i % 4 === 0 ? ageMsOf(value, nowMs) : value));
    const first = this.#firstPermit;
    this.#firstPermit = (first + wanted) % 2 ** 31 || 1;
    const sequence = batch.length > 0 || this.#hasTried ? this.#sequence : 0;
    const settled = [...this.#settled];
    const place = { place: this.#place, window: this.#window, sees };
    return { rule: this.#rule, id: this.id, ...place, sequence, batch, settled, wanted, first };
  }

  /** The store has this request. */
  commit({ sequence, settled }: FlushRequest, { place, epoch }: FlushReply): void {
    this.#place = place;
    this.#window = epoch % EPOCH_MODULUS;
    this.#hasTried = false;
    // In Workers the answer to a later request may have come first.
    if (sequence === this.#sequence) this.#batch = new Float64Array();
    this.#settled = this.#settled.filter(({ number }) => !settled.some((each) => each.number === number));
  }

  /** The request failed, but the store may have it. Its probes are given back; the rest is sent again. */
  retry({ first, wanted }: FlushRequest): void {
    for (let i = 0; i < wanted; i++) this.settle(first + i, VERDICT.ignored);
  }

  /** Drops the calls of a window that is over. */
  clearCalls(): void {
    this.#tally.clear();
  }
}

/** If the clock stepped back, the age is 0. */
function ageMsOf(atMs: number, nowMs: number): number {
  return Math.min(2 ** 32 - 1, Math.max(0, nowMs - atMs));
}
