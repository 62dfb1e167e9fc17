import { onAbort } from "../../base/async/aborts.ts";
import { endsWithRequest } from "../../base/async/of-request.ts";
import type { OrielError } from "../../base/errors.ts";
import { COMMAND, VERDICT } from "../../generated/layouts/breaker.ts";
import type { Store } from "../../store/contract.ts";
import { flush } from "./flush.ts";
import type { Command, FlushReply, FlushRequest } from "./flush-format.ts";
import { type BreakerStats, type Gate, openError, type Permit } from "./gate.ts";
import { LocalGate, type LocalGateOptions } from "./local-gate.ts";
import { type Rule, tickOf, trips, type Verdict } from "./rule.ts";
import { SlidingTally } from "./tally.ts";

export interface SharedGateOptions extends LocalGateOptions {
  store: Store;
  key: string;
  flushMs: number;
  onError: (error: unknown) => void;
}

const NO_REPLY_YET: FlushReply = {
  ...({ state: "closed", granted: 0, epoch: 0, waitMs: 0, sinceMs: Number.POSITIVE_INFINITY } as const),
  ...{ calls: 0, failures: 0, slow: 0 },
};

/**
 * One process's part of a shared circuit. It has the store's last reply, the report that the store does not have yet, and
 * a local circuit, which takes over while the store fails. Calls send the report. Only a possible probe waits for the reply.
 */
export class SharedGate implements Gate {
  window = 0;
  /** False, because the start of a call also checks whether a report is due. */
  readonly isFree = false;
  readonly #options: SharedGateOptions;
  readonly #pending: PendingReport;
  readonly #waiting = new WaitingCalls();
  /** Counts this process's calls. It is open while the shared circuit is not closed. */
  readonly #local: LocalGate;
  #lastReply = NO_REPLY_YET;
  /** If the circuit is not closed: when a probe may be granted. */
  #askAtMs = 0;
  #isStoreDown = false;
  #underWay: Promise<void> | undefined;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** When a batch was sent last. */
  #batchSentMs = Number.NEGATIVE_INFINITY;

  constructor(options: SharedGateOptions) {
    this.#options = options;
    this.#pending = new PendingReport(options.rule);
    const onState = (stats: BreakerStats) => {
      if (this.#isStoreDown) options.onState(stats);
    };
    this.#local = new LocalGate({ ...options, onState });
  }

  enter(nowMs: number, signal: AbortSignal | undefined): Permit | Promise<Permit> {
    if (this.#isStoreDown || this.#lastReply.state === "closed") {
      if (this.#isDue(this.#sentMs, nowMs)) this.#send(nowMs);
      return this.#isStoreDown ? this.#local.enter(nowMs) : 0;
    }
    if (nowMs < this.#askAtMs) throw openError(this.#askAtMs - nowMs, this.#options.site);
    const permit = this.#waiting.add(signal);
    this.#send(nowMs);
    return permit;
  }

  count(atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean {
    const isCounted = this.#isStoreDown
      ? this.#local.count(atMs, calls, failures, slow, nowMs)
      : this.#local.countOnly(atMs, calls, failures, slow, nowMs);
    if (!isCounted) return false;
    this.#pending.count(atMs, calls, failures, slow);
    if (this.#isDue(this.#batchSentMs, nowMs) || (failures + slow > 0 && this.#mayTrip())) this.#send(nowMs);
    return true;
  }

  settle(permit: Permit, verdict: Verdict, nowMs: number): void {
    if (permit < 0) this.#settleLocal(permit, verdict, nowMs);
    else {
      this.#pending.settle(permit, verdict);
      this.#send(nowMs);
    }
  }

  stats(nowMs: number): BreakerStats {
    if (this.#isStoreDown) return this.#local.stats(nowMs);
    const { state, calls, failures, slow } = this.#lastReply;
    const waitMs = state === "closed" ? 0 : Math.ceil(Math.max(0, this.#askAtMs - nowMs));
    return { state, calls, failures, slow, retryAfterMs: waitMs };
  }

  async flush(): Promise<void> {
    if (!endsWithRequest) await this.#underWay?.catch(() => {});
    do {
      this.#send(this.#options.monotonic());
      await this.#underWay;
    } while (!this.#pending.isEmpty);
  }

  async order(command: Command): Promise<void> {
    while (this.#underWay && !endsWithRequest) await this.#underWay.catch(() => {});
    this.#send(this.#options.monotonic(), false, command);
    await this.#underWay;
  }

  /** If the local circuit closes, calls of its old window are not reported when the store is back. */
  #settleLocal(permit: Permit, verdict: Verdict, nowMs: number): void {
    if (!this.#isStoreDown) return;
    const before = this.#local.window;
    this.#local.settle(permit, verdict, nowMs);
    if (this.#local.window === before) return;
    this.window++;
    this.#pending.clearCalls();
  }

  #isDue(lastMs: number, nowMs: number): boolean {
    return nowMs - lastMs >= this.#options.flushMs || nowMs < lastMs;
  }

  /** Whether the last reply's counts and the unsent ones together open the circuit. */
  #mayTrip(): boolean {
    const { calls, failures, slow } = this.#pending.unbatched;
    const last = this.#lastReply;
    if (this.#isStoreDown || last.state !== "closed" || calls + failures === 0) return false;
    return trips(this.#options.rule, last.calls + calls, last.failures + failures, last.slow + slow);
  }

  /**
   * Sends one report at a time. Newer calls go with the next report. In Workers, where a request may never end, reports
   * overlap: a batch that is under way is sent again with its number, and counts once.
   */
  #send(nowMs: number, isFollowUp = false, command: Command = COMMAND.none): void {
    if (this.#underWay && !endsWithRequest) return;
    const sending = this.#exchange(Math.floor(nowMs), command);
    this.#underWay = sending;
    const next = () => {
      if (this.#underWay === sending) this.#underWay = undefined;
      if (this.#needsFollowUp(isFollowUp)) this.#send(this.#options.monotonic(), true);
    };
    sending.then(next, next);
  }

  /** Failures during a request are sent at once after it: no later call may come to send them. */
  #needsFollowUp(isFollowUp: boolean): boolean {
    if (this.#waiting.count > 0) return true;
    if (this.#isStoreDown) return false;
    const { failures, slow } = this.#pending.unbatched;
    return this.#pending.isUrgent || this.#mayTrip() || (!isFollowUp && failures + slow > 0);
  }

  async #exchange(nowMs: number, command: Command): Promise<void> {
    const { store, key, rule, monotonic } = this.#options;
    const waiting = this.#waiting.takeAll();
    const report = this.#pending.begin(Math.min(waiting.count, rule.probes), nowMs);
    this.#sentMs = nowMs;
    if (report.sequence > 0) this.#batchSentMs = nowMs;
    try {
      const reply = await store.run(flush, key, command === COMMAND.none ? report : { ...report, command });
      this.#pending.commit(report);
      this.#apply(reply, monotonic());
      this.#admit(waiting, report, reply);
    } catch (error) {
      this.#pending.retry(report);
      if (!this.#isStoreDown) this.#options.onError(error);
      this.#isStoreDown = true;
      const enter = () => this.#local.enter(monotonic());
      waiting.enterEach(enter);
      this.#waiting.takeAll().enterEach(enter);
      throw error;
    }
  }

  /** Takes the reply over, into the local circuit too. If the store fails later, that one probes when its time comes. */
  #apply(reply: FlushReply, nowMs: number): void {
    const { state, epoch, waitMs, sinceMs, calls, failures, slow } = reply;
    const isClosed = state === "closed";
    const isNewWindow =
      isClosed &&
      this.#lastReply.epoch !== 0 &&
      epoch !== this.#lastReply.epoch &&
      sinceMs !== Number.POSITIVE_INFINITY;
    // If it is half-open without room, a running probe may end before its lease. Then a retry after `flushMs` pays.
    this.#askAtMs = nowMs + (state === "half-open" ? Math.min(waitMs, this.#options.flushMs) : waitMs);
    this.#lastReply = reply;
    this.#isStoreDown = false;
    if (!isClosed || isNewWindow) {
      this.#pending.clearCalls();
      this.#local.adopt(true, nowMs, this.#askAtMs, { calls, failures, slow });
    }
    if (isClosed) this.#local.adopt(false, nowMs);
    if (isNewWindow) this.window++;
    this.#options.onState(this.stats(nowMs), epoch);
  }

  #admit(waiting: WaitingBatch, { first }: FlushRequest, { state, granted }: FlushReply): void {
    if (state === "closed") waiting.enterEach(() => 0);
    const permits = Array.from({ length: granted }, (_, i) => first + i);
    const { monotonic, site } = this.#options;
    const unused = waiting.grant(permits, () => openError(this.#askAtMs - monotonic(), site));
    for (const permit of unused) this.#pending.settle(permit, VERDICT.ignored);
  }
}

interface Waiter {
  resolve(permit: Permit): void;
  reject(reason: unknown): void;
  isOpen: boolean;
}

/** Calls that wait until the store's answer says whether they may pass. */
class WaitingCalls {
  #waiting: Waiter[] = [];

  get count(): number {
    return this.#waiting.length;
  }

  /** Rejects with the signal's reason as soon as it aborts. */
  add(signal: AbortSignal | undefined): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const settled =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          if (!waiter.isOpen) return;
          waiter.isOpen = false;
          this.#waiting = this.#waiting.filter((each) => each !== waiter);
          ignore?.();
          settle(value);
        };
      const waiter: Waiter = { isOpen: true, resolve: settled(resolve), reject: settled(reject) };
      this.#waiting.push(waiter);
      const ignore = signal && onAbort(signal, () => waiter.reject(signal.reason));
    });
  }

  /** Takes all waiting calls out. Later calls are not among them. */
  takeAll(): WaitingBatch {
    const batch = new WaitingBatch(this.#waiting);
    this.#waiting = [];
    return batch;
  }
}

/** Calls that wait for the same answer. */
export class WaitingBatch {
  readonly #waiters: readonly Waiter[];

  constructor(waiters: readonly Waiter[]) {
    this.#waiters = waiters;
  }

  get count(): number {
    return this.#waiters.length;
  }

  /** Admits or rejects each call as `enter` returns or throws. */
  enterEach(enter: () => Permit): void {
    for (const waiter of this.#open)
      try {
        waiter.resolve(enter());
      } catch (error) {
        waiter.reject(error);
      }
  }

  /** Admits one call per permit and rejects the rest. Returns the unused permits: some calls may have been aborted. */
  grant(permits: readonly Permit[], openError: () => OrielError): readonly Permit[] {
    const waiters = this.#open;
    for (const [i, waiter] of waiters.entries()) {
      const permit = permits[i];
      if (permit === undefined) waiter.reject(openError());
      else waiter.resolve(permit);
    }
    return permits.slice(waiters.length);
  }

  get #open(): Waiter[] {
    return this.#waiters.filter(({ isOpen }) => isOpen);
  }
}

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

  /** The request to send now, which asks for `wanted` probes. */
  begin(wanted: number, nowMs: number): FlushRequest {
    if (this.#batch.length === 0) {
      this.#tally.dropThrough(nowMs - this.#rule.spanMs - this.#rule.tickMs);
      this.#batch = this.#tally.cut(MAX_RECORDS);
      if (this.#batch.length > 0) this.#sequence++;
    }
    const batch = Array.from(this.#batch, (value, i) => (i % 4 === 0 ? ageMsOf(value, nowMs) : value));
    const first = this.#firstPermit;
    this.#firstPermit = (first + wanted) % 2 ** 31 || 1;
    const sequence = batch.length > 0 ? this.#sequence : 0;
    return { rule: this.#rule, id: this.id, sequence, batch, settled: [...this.#settled], wanted, first };
  }

  /** The store has this request. */
  commit({ sequence, settled }: FlushRequest): void {
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
