import { endsWithRequest } from "../async/of-request.ts";
import type { ErrorPlace } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import type { Clock } from "../time.ts";
import { type Asked, Asking } from "./asking.ts";
import type { Answer, Handed } from "./exchange.ts";
import { flush } from "./flush.ts";
import { type BreakerStats, type Gate, openError, type Permit } from "./gate.ts";
import { Gathered } from "./gathered.ts";
import { LocalGate } from "./local-gate.ts";
import { type Rule, trips, VERDICT, type Verdict } from "./rule.ts";

export interface SharedGateOptions {
  store: Store;
  key: string;
  rule: Rule;
  flushMs: number;
  /** Of rejected calls. */
  place: ErrorPlace;
  monotonic: Clock;
  /** Told the state whenever it may have changed. */
  onState: (stats: BreakerStats) => void;
  onError: (error: unknown) => void;
}

const UNHEARD: Answer = {
  ...({ state: "closed", granted: 0, epoch: 0, waitMs: 0, sinceMs: Number.POSITIVE_INFINITY } as const),
  ...{ calls: 0, failures: 0, slow: 0 },
};

/**
 * One process's part in a circuit that many share: what it last heard of it, what it has gathered since, and a circuit of
 * its own, which goes on from there while the store fails. Calls hand in what is gathered; none waits for that but one that
 * may be a probe.
 */
export class SharedGate implements Gate {
  window = 0;
  /** Whether it is time to hand in is looked at when calls begin, too. */
  readonly isFree = false;
  readonly #options: SharedGateOptions;
  readonly #gathered: Gathered;
  readonly #asking = new Asking();
  /** Counts what this process counts, and is open while the fleet's is not closed. */
  readonly #own: LocalGate;
  #heard = UNHEARD;
  /** Where it is not closed: when asking for a probe is worthwhile. */
  #askAtMs = 0;
  #isAway = false;
  #underWay: Promise<void> | undefined;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** When counted calls were handed in last. */
  #handedMs = Number.NEGATIVE_INFINITY;

  constructor(options: SharedGateOptions) {
    this.#options = options;
    this.#gathered = new Gathered(options.rule);
    const onState = (stats: BreakerStats) => {
      if (this.#isAway) options.onState(stats);
    };
    this.#own = new LocalGate(options.rule, options.monotonic(), onState, options.place);
  }

  enter(nowMs: number, signal: AbortSignal | undefined): Permit | Promise<Permit> {
    if (this.#isAway || this.#heard.state === "closed") {
      if (this.#isDue(this.#sentMs, nowMs)) this.#send(nowMs);
      return this.#isAway ? this.#own.enter(nowMs) : 0;
    }
    if (nowMs < this.#askAtMs) throw openError(this.#askAtMs - nowMs, this.#options.place);
    const asked = this.#asking.ask(signal);
    this.#send(nowMs);
    return asked;
  }

  count(atMs: number, calls: number, failures: number, slow: number, nowMs: number): boolean {
    const isCounted = this.#isAway
      ? this.#own.count(atMs, calls, failures, slow, nowMs)
      : this.#own.note(atMs, calls, failures, slow, nowMs);
    if (!isCounted) return false;
    this.#gathered.count(atMs, calls, failures, slow);
    if (this.#isDue(this.#handedMs, nowMs) || (failures + slow > 0 && this.#mayTrip())) this.#send(nowMs);
    return true;
  }

  settle(permit: Permit, verdict: Verdict, nowMs: number): void {
    if (permit < 0) this.#settleOwn(permit, verdict, nowMs);
    else {
      this.#gathered.settle(permit, verdict);
      this.#send(nowMs);
    }
  }

  stats(nowMs: number): BreakerStats {
    if (this.#isAway) return this.#own.stats(nowMs);
    const { state, calls, failures, slow } = this.#heard;
    return { state, calls, failures, slow, retryAfterMs: state === "closed" ? 0 : Math.max(0, this.#askAtMs - nowMs) };
  }

  async flush(): Promise<void> {
    if (!endsWithRequest) await this.#underWay?.catch(() => {});
    do {
      this.#send(this.#options.monotonic());
      await this.#underWay;
    } while (!this.#gathered.isEmpty);
  }

  /** What this process alone has closed over need not be heard of when the store is back. */
  #settleOwn(permit: Permit, verdict: Verdict, nowMs: number): void {
    if (!this.#isAway) return;
    const before = this.#own.window;
    this.#own.settle(permit, verdict, nowMs);
    if (this.#own.window === before) return;
    this.window++;
    this.#gathered.forget();
  }

  #isDue(lastMs: number, nowMs: number): boolean {
    return nowMs - lastMs >= this.#options.flushMs || nowMs < lastMs;
  }

  /** What was heard last and what was gathered since may, together, open the circuit. */
  #mayTrip(): boolean {
    const { calls, failures, slow } = this.#gathered.waiting;
    if (this.#isAway || this.#heard.state !== "closed" || calls + failures === 0) return false;
    const heard = this.#heard;
    return trips(this.#options.rule, heard.calls + calls, heard.failures + failures, heard.slow + slow);
  }

  /**
   * One at a time; what comes meanwhile goes with the next. In Workers, where that one may never come, at once: a batch that is
   * under way is sent again under its number, and counts once.
   */
  #send(nowMs: number, isSecond = false): void {
    if (this.#underWay && !endsWithRequest) return;
    const sending = this.#exchange(Math.floor(nowMs));
    this.#underWay = sending;
    const next = () => {
      if (this.#underWay === sending) this.#underWay = undefined;
      if (this.#isNextWaitedFor(isSecond)) this.#send(this.#options.monotonic(), true);
    };
    sending.then(next, next);
  }

  /** What went wrong while the first was under way follows at once: nobody may call any more to hand it in. */
  #isNextWaitedFor(isSecond: boolean): boolean {
    if (this.#asking.count > 0) return true;
    if (this.#isAway) return false;
    const { failures, slow } = this.#gathered.waiting;
    return this.#gathered.isUrgent || this.#mayTrip() || (!isSecond && failures + slow > 0);
  }

  async #exchange(nowMs: number): Promise<void> {
    const { store, key, rule, monotonic } = this.#options;
    const asked = this.#asking.take();
    const handed = this.#gathered.hand(Math.min(asked.count, rule.probes), nowMs);
    this.#sentMs = nowMs;
    if (handed.sequence > 0) this.#handedMs = nowMs;
    try {
      const answer = await store.run(flush, key, handed);
      this.#gathered.took(handed);
      this.#hear(answer, monotonic());
      this.#admit(asked, handed, answer);
    } catch (error) {
      this.#gathered.missed(handed);
      if (!this.#isAway) this.#options.onError(error);
      this.#isAway = true;
      const enter = () => this.#own.enter(monotonic());
      asked.each(enter);
      this.#asking.take().each(enter);
      throw error;
    }
  }

  /** Where the store fails a circuit that was not closed is this process's own to probe, when it is time. */
  #hear(answer: Answer, nowMs: number): void {
    const { state, epoch, waitMs, sinceMs, calls, failures, slow } = answer;
    const isClosed = state === "closed";
    const isFresh = isClosed && this.#heard.epoch !== 0 && epoch !== this.#heard.epoch && sinceMs !== Infinity;
    // Half-open, and no room: one of those who probe may end before its lease.
    this.#askAtMs = nowMs + (state === "half-open" ? Math.min(waitMs, this.#options.flushMs) : waitMs);
    this.#heard = answer;
    this.#isAway = false;
    if (!isClosed || isFresh) {
      this.#gathered.forget();
      this.#own.assume(true, nowMs, this.#askAtMs, { calls, failures, slow });
    }
    if (isClosed) this.#own.assume(false, nowMs);
    if (isFresh) this.window++;
    this.#options.onState(this.stats(nowMs));
  }

  #admit(asked: Asked, { first }: Handed, { state, granted }: Answer): void {
    if (state === "closed") asked.each(() => 0);
    const permits = Array.from({ length: granted }, (_, i) => first + i);
    const { monotonic, place } = this.#options;
    const left = asked.grant(permits, () => openError(this.#askAtMs - monotonic(), place));
    for (const permit of left) this.#gathered.settle(permit, VERDICT.void);
  }
}
