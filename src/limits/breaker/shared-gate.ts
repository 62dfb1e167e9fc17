import { endsWithRequest } from "../../base/async/of-request.ts";
import { CAUSE, COMMAND, VERDICT } from "../../generated/layouts/breaker.ts";
import type { Store } from "../../store/contract.ts";
import { flush } from "./flush.ts";
import type { FlushReply, FlushRequest } from "./flush-format.ts";
import { type BreakerStats, forcedMsOf, type Gate, openError, type Permit } from "./gate.ts";
import { LocalGate, type LocalGateOptions } from "./local-gate.ts";
import { PendingReport } from "./pending-report.ts";
import { type Command, hasQuorum, trips, type Verdict } from "./rule.ts";
import { type WaitingBatch, WaitingCalls } from "./waiting-calls.ts";

export interface SharedGateOptions extends LocalGateOptions {
  store: Store;
  key: string;
  flushMs: number;
  onError: (error: unknown) => void;
}

const NO_REPLY_YET: FlushReply = {
  ...({ state: "closed", granted: 0, epoch: 0, waitMs: 0, sinceMs: Number.POSITIVE_INFINITY } as const),
  ...{ calls: 0, failures: 0, slow: 0, heldMs: 0, cause: CAUSE.calls, place: 0, callers: 0, seeing: 0 },
};

/**
 * One process's part of a shared circuit. It has the store's last reply, the report that the store does not have yet, and
 * a local circuit, which takes over while the store fails. Calls send the report. Only a possible probe waits for the reply.
 * With a quorum the local circuit also opens while the shared one is closed: for the calls of this process alone.
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
  readonly #hasQuorum: boolean;
  #lastReply = NO_REPLY_YET;
  /** If the circuit is not closed: when a probe may be granted. */
  #askAtMs = 0;
  /** While the circuit is closed: until when an order keeps it so. */
  #heldUntilMs = 0;
  #isStoreDown = false;
  /** Whether the last report said that this process sees failures. */
  #hasSaidSees = false;
  #underWay: Promise<void> | undefined;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** When a batch was sent last. */
  #batchSentMs = Number.NEGATIVE_INFINITY;

  constructor(options: SharedGateOptions) {
    this.#options = options;
    this.#hasQuorum = hasQuorum(options.rule);
    this.#pending = new PendingReport(options.rule);
    const onState = () => {
      if (this.#decidesAlone) options.onState(this.stats(options.monotonic()));
    };
    this.#local = new LocalGate({ ...options, onState, isOfShared: true });
  }

  /** Whether the local circuit may decide. */
  get #decidesAlone(): boolean {
    return this.#isStoreDown || (this.#hasQuorum && this.#lastReply.state === "closed");
  }

  /** Whether the local circuit decides: while the store fails, or because the calls of this process opened it. */
  get #isAlone(): boolean {
    return this.#isStoreDown || (this.#decidesAlone && !this.#local.isFree);
  }

  enter(nowMs: number, signal: AbortSignal | undefined): Permit | Promise<Permit> {
    if (this.#isStoreDown || this.#lastReply.state === "closed") {
      if (this.#isAlone) this.#pending.noteTry();
      if (this.#isDue(this.#sentMs, nowMs)) this.#send(nowMs);
      return this.#isAlone ? this.#local.enter(nowMs) : 0;
    }
    if (nowMs < this.#askAtMs) throw openError(this.#askAtMs - nowMs, this.#options.site);
    const permit = this.#waiting.add(signal);
    this.#send(nowMs);
    return permit;
  }

  count(atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean {
    const isCounted = this.#decidesAlone
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
    const { state, calls, failures, slow, cause, callers, seeing } = this.#lastReply;
    const ofAll = { processes: callers, failing: seeing };
    if (this.#isAlone) return { ...this.#local.stats(nowMs), ...ofAll, degraded: true };
    const leftMs = (untilMs: number) => Math.ceil(Math.max(0, untilMs - nowMs));
    const retryAfterMs = state === "closed" ? 0 : leftMs(this.#askAtMs);
    const forcedMs = forcedMsOf(state, cause, retryAfterMs, leftMs(this.#heldUntilMs));
    return { state, calls, failures, slow, retryAfterMs, forcedMs, ...ofAll, degraded: false };
  }

  async ready(): Promise<void> {
    if (this.#lastReply.epoch !== 0 || this.#isStoreDown) return;
    this.#send(this.#options.monotonic());
    await this.#underWay?.catch(() => {});
  }

  async flush(): Promise<void> {
    if (!endsWithRequest) await this.#underWay?.catch(() => {});
    do {
      this.#send(this.#options.monotonic());
      await this.#underWay;
    } while (!this.#pending.isEmpty);
  }

  async order(command: Command, forMs: number): Promise<void> {
    const { monotonic, onState } = this.#options;
    while (this.#underWay && !endsWithRequest) await this.#underWay.catch(() => {});
    this.#send(monotonic(), false, { command, forMs });
    await this.#underWay;
    if (command !== COMMAND.close || !this.#isAlone) return;
    this.#local.adopt(false, monotonic());
    this.window++;
    onState(this.stats(monotonic()));
  }

  /** If the local circuit closes, calls of its old window are not reported when the store is back. */
  #settleLocal(permit: Permit, verdict: Verdict, nowMs: number): void {
    if (!this.#decidesAlone) return;
    const before = this.#local.window;
    this.#local.settle(permit, verdict, nowMs);
    if (this.#local.window === before) return;
    this.window++;
    this.#pending.clearCalls();
  }

  #isDue(lastMs: number, nowMs: number): boolean {
    return nowMs - lastMs >= this.#options.flushMs || nowMs < lastMs;
  }

  /**
   * Whether the last reply's counts and the unsent ones together open the circuit. With a quorum: whether this process has begun to
   * see failures.
   */
  #mayTrip(): boolean {
    const { calls, failures, slow } = this.#pending.unbatched;
    const last = this.#lastReply;
    if (this.#isStoreDown || last.state !== "closed" || calls + failures === 0) return false;
    if (this.#hasQuorum) return !this.#hasSaidSees && this.#local.sees(this.#options.monotonic());
    const counts = { calls: last.calls + calls, failures: last.failures + failures, slow: last.slow + slow };
    return trips(this.#options.rule, counts);
  }

  /**
   * Sends one report at a time. Newer calls go with the next report. In Workers, where a request may never end, reports
   * overlap: a batch that is under way is sent again with its number, and counts once.
   */
  #send(nowMs: number, isFollowUp = false, order: Pick<FlushRequest, "command" | "forMs"> = {}): void {
    if (this.#underWay && !endsWithRequest) return;
    const sending = this.#exchange(Math.floor(nowMs), order);
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

  async #exchange(nowMs: number, order: Pick<FlushRequest, "command" | "forMs">): Promise<void> {
    const { store, key, rule, monotonic } = this.#options;
    const waiting = this.#waiting.takeAll();
    const report = this.#pending.begin(Math.min(waiting.count, rule.probes), nowMs, this.#local.sees(nowMs));
    this.#sentMs = nowMs;
    this.#hasSaidSees = report.sees === true;
    if (report.sequence > 0) this.#batchSentMs = nowMs;
    try {
      const reply = await store.run(flush, key, { ...report, ...order });
      this.#pending.commit(report, reply);
      this.#apply(reply, monotonic());
      this.#admit(waiting, report, reply);
    } catch (error) {
      this.#pending.retry(report);
      this.#hasSaidSees = false;
      if (!this.#isStoreDown) this.#options.onError(error);
      this.#isStoreDown = true;
      const enter = () => this.#local.enter(monotonic());
      waiting.enterEach(enter);
      this.#waiting.takeAll().enterEach(enter);
      throw error;
    }
  }

  /**
   * Takes the reply over, into the local circuit too. If the store fails later, that one probes when its time comes. With a quorum
   * it goes on deciding for this process, as long as the shared circuit stays closed and no order keeps it so.
   */
  #apply(reply: FlushReply, nowMs: number): void {
    const { state, epoch, waitMs, sinceMs, heldMs, cause } = reply;
    const isClosed = state === "closed";
    const last = this.#lastReply;
    const isNewWindow = isClosed && last.epoch !== 0 && epoch !== last.epoch && sinceMs !== Number.POSITIVE_INFINITY;
    // If it is half-open without room, a running probe may end before its lease. Then a retry after `flushMs` pays.
    this.#askAtMs = nowMs + (state === "half-open" ? Math.min(waitMs, this.#options.flushMs) : waitMs);
    this.#heldUntilMs = nowMs + heldMs;
    const staysAlone = this.#hasQuorum && last.state === "closed" && heldMs === 0;
    this.#lastReply = reply;
    this.#isStoreDown = false;
    if (!isClosed || isNewWindow) {
      this.#pending.clearCalls();
      this.#local.adopt(true, nowMs, this.#askAtMs, reply);
    }
    if (isClosed && (isNewWindow || !staysAlone)) this.#local.adopt(false, nowMs);
    this.#local.hold(heldMs > 0 ? this.#heldUntilMs : Number.NEGATIVE_INFINITY);
    if (isNewWindow) this.window++;
    this.#options.onState(this.stats(nowMs), { epoch, cause });
  }

  #admit(waiting: WaitingBatch, { first }: FlushRequest, { state, granted }: FlushReply): void {
    if (state === "closed") waiting.enterEach(() => 0);
    const permits = Array.from({ length: granted }, (_, i) => first + i);
    const { monotonic, site } = this.#options;
    const unused = waiting.grant(permits, () => openError(this.#askAtMs - monotonic(), site));
    for (const permit of unused) this.#pending.settle(permit, VERDICT.ignored);
  }
}
