import { inThisContext } from "../../../base/async/context.ts";
import { endsWithRequest } from "../../../base/async/of-request.ts";
import { IDLE_TIMERS, type Timers } from "../../../base/async/timers.ts";
import type { Clock } from "../../../base/time.ts";
import { ASKED, CLAIM_MS } from "../../../generated/layouts/series.ts";
import type { Store } from "../../../store/contract.ts";
import type { JournalPosition } from "../../journal/replica/last-seen.ts";
import type { StatsQuery } from "../../stats/window-query.ts";
import type { Degraded, WindowStats } from "../../stats/window-stats.ts";
import type { LossTracker } from "../outlines/outline-stats.ts";
import type { KnownQuery } from "../queries.ts";
import { isUnreachable } from "../refused.ts";
import { type Asked, ask } from "./ask.ts";
import { publish } from "./publish.ts";

/** The process of an answer renews it after this share of the age that others allow for. */
const RENEW_AFTER = 0.5;
/** Together they bound what a process keeps of questions with many percentiles. */
const MAX_QUESTIONS = 256;
const MAX_PERCENTILES = 128;
const FIRST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 64;

/** This process's own way to an answer. */
export interface OwnAnswers {
  compute(query: KnownQuery): Promise<WindowStats>;
  /** The trackers of lost events. Each knows the events that the journal lost after this process had seen them. */
  losses(): readonly LossTracker[];
}

/** One question, and the last answer that this process has of it. */
interface Question {
  readonly key: string;
  /** The query without a maximum age, with its percentiles in ascending order, each once. */
  readonly query: KnownQuery;
  /** Of this process, for the store. */
  readonly id: number;
  answer?: WindowStats;
  /** The answer has all events that were acknowledged before this time of the lease clock. */
  sinceMs: number;
  running?: Promise<void> | undefined;
  cancelRenewal?: () => void;
}

/**
 * The answers that the processes of a series share, for questions with `maxAge` about windows that end now or at a whole second.
 *
 *   No answer is fresh:          one process takes the claim, computes, and publishes; the others wait for it.
 *   An answer is fresh:          some hundred bytes are read.
 *   It will soon be too old:     its process renews it, if another one has asked for it since.
 *   That process is gone:        the next one that finds the answer too old takes the claim.
 *
 * So one process has the copy of the events, and the others have none. Law: an answer has all events that were acknowledged `maxAge`
 * before the call. A call waits for other processes no longer than a claim lasts, and then computes. If sharing itself fails, a
 * process computes its own answer.
 */
export class SharedAnswers {
  readonly #store: Store;
  readonly #key: string;
  readonly #own: OwnAnswers;
  readonly #entropy: () => number;
  readonly #timers: Timers;
  readonly #now: Clock;
  readonly #questions = new Map<string, Question>();
  #deletedMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  /** `key` begins the keys of all questions. */
  constructor(store: Store, key: string, own: OwnAnswers, entropy: () => number, timers: Timers = IDLE_TIMERS) {
    this.#store = store;
    this.#key = key;
    this.#own = own;
    this.#entropy = entropy;
    this.#timers = timers;
    this.#now = store.leaseClock;
    // A renewal belongs to no request.
    this.#renew = inThisContext(this.#renew);
  }

  /**
   * Whether processes share the answer. An end that is no whole second is hardly that of another process, so a key for it would cost
   * two requests and serve nobody. A key has its percentiles in its name.
   */
  static suits({ atMs = 0, maxAgeMs, percentiles }: StatsQuery): boolean {
    return maxAgeMs > 0 && atMs % 1000 === 0 && percentiles.length <= MAX_PERCENTILES;
  }

  async stats(query: StatsQuery): Promise<WindowStats> {
    const question = this.#questionOf(query);
    const earliestMs = this.#now() - query.maxAgeMs;
    for (;;) {
      if (question.answer && question.sinceMs >= earliestMs) return this.#given(question.answer, query);
      if (endsWithRequest) await this.#ask(question, query.maxAgeMs, this.#newId());
      else await this.#run(question, () => this.#ask(question, query.maxAgeMs, question.id));
    }
  }

  /** The series was deleted by this process: calls from now on do not get answers from before. */
  forget(): void {
    this.#deletedMs = this.#now();
    for (const { cancelRenewal } of this.#questions.values()) cancelRenewal?.();
    this.#questions.clear();
  }

  /** Renews no answer any more. Calls that wait compute their own. */
  close(): void {
    this.#isClosed = true;
    this.forget();
  }

  #questionOf(asked: StatsQuery): Question {
    const percentiles = [...new Set(asked.percentiles)].sort((one, other) => one - other);
    const kind = [asked.spanMs, asked.closed, asked.method, asked.ddof, percentiles].concat(asked.atMs ?? []).join(":");
    const question: Question = this.#questions.get(kind) ?? {
      key: `${this.#key}:${kind}`,
      query: { ...asked, percentiles, maxAgeMs: 0, kind },
      id: this.#newId(),
      sinceMs: Number.NEGATIVE_INFINITY,
    };
    // The first is the one that was not asked for longest.
    this.#questions.delete(kind);
    this.#questions.set(kind, question);
    if (this.#questions.size > MAX_QUESTIONS) {
      const [oldest = question] = this.#questions.values();
      oldest.cancelRenewal?.();
      this.#questions.delete(oldest.query.kind);
    }
    return question;
  }

  /** 0 is no process. */
  #newId(): number {
    return this.#entropy() || 1;
  }

  /** One at a time for each question. Further callers wait for the one that runs, and look again. */
  #run(question: Question, work: () => Promise<void>): Promise<void> {
    question.running ??= work().finally(() => {
      question.running = undefined;
    });
    return question.running;
  }

  async #ask(question: Question, maxAgeMs: number, id: number): Promise<void> {
    const untilMs = this.#now() + Math.min(maxAgeMs / 2, CLAIM_MS);
    for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const askedMs = this.#now();
      // The server's times are whole ms.
      const oldestMs = Math.floor(Math.min(maxAgeMs, askedMs - this.#deletedMs - 1));
      const asked = oldestMs >= 1 ? await this.#send(question, oldestMs, id, false) : undefined;
      if (!asked) return this.#keep(question, await this.#own.compute(question.query), askedMs);
      if (asked.status !== ASKED.wait || askedMs >= untilMs || this.#isClosed) {
        const found = asked.status === ASKED.fresh && this.#read(asked, question.query.percentiles);
        if (!found) return this.#compute(question, maxAgeMs, id, asked.nowMs, askedMs);
        return this.#keep(question, found, askedMs - (asked.nowMs - asked.asOfMs) - 1);
      }
      await this.#timers.pause(waitMs);
    }
  }

  /** Undefined if the answer cannot be shared. Throws if the store cannot be reached. */
  async #send({ key }: Question, maxAgeMs: number, id: number, isRenewal: boolean): Promise<Asked | undefined> {
    try {
      return await this.#store.run(ask, key, { maxAgeMs, id, isRenewal });
    } catch (error) {
      if (isUnreachable(error)) throw error;
      return undefined;
    }
  }

  async #compute(question: Question, maxAgeMs: number, id: number, asOfMs: number, sinceMs: number): Promise<void> {
    const { key, query } = question;
    const publishing = (answer: Uint8Array) =>
      this.#store.run(publish, key, { id, asOfMs, maxAgeMs, answer }).catch(() => {});
    let stats: WindowStats;
    try {
      stats = await this.#own.compute(query);
    } catch (error) {
      const givingUp = publishing(new Uint8Array());
      if (endsWithRequest) await givingUp;
      throw error;
    }
    const losses = this.#own.losses();
    const published = publishing(bytesOf(stats, query, losses.length === 1 ? losses[0]!.rollbacks.seen : undefined));
    this.#keep(question, { ...stats, asOfMs }, sinceMs);
    if (endsWithRequest) await published;
    else this.#renewLater(question, maxAgeMs, sinceMs);
  }

  #renewLater(question: Question, maxAgeMs: number, sinceMs: number): void {
    question.cancelRenewal?.();
    if (this.#questions.get(question.query.kind) !== question) return;
    const afterMs = Math.max(0, RENEW_AFTER * maxAgeMs - (this.#now() - sinceMs));
    question.cancelRenewal = this.#timers.after(afterMs, () => this.#renew(question, maxAgeMs));
  }

  readonly #renew = (question: Question, maxAgeMs: number): void => {
    // After a failure the next caller asks itself.
    void this.#run(question, () => this.#renewed(question, maxAgeMs).catch(() => {}));
  };

  async #renewed(question: Question, maxAgeMs: number): Promise<void> {
    const { id } = question;
    const askedMs = this.#now();
    const asked = await this.#send(question, maxAgeMs, id, true);
    if (asked?.status !== ASKED.claimed || this.#isClosed) return;
    await this.#compute(question, asked.wantedMs, id, asked.nowMs, askedMs);
  }

  #keep(question: Question, answer: WindowStats, sinceMs: number): void {
    if (sinceMs > question.sinceMs) Object.assign(question, { answer, sinceMs });
  }

  /** An object of the caller's own, with the percentiles in its order. */
  #given(answer: WindowStats, { percentiles }: StatsQuery): WindowStats {
    const given: WindowStats = { ...answer, percentiles: {} };
    for (const p of percentiles) given.percentiles[p] = answer.percentiles[p]!;
    if (given.degraded) return given;
    for (const loss of this.#own.losses()) {
      const degradedBy = loss.missingReason(answer.from);
      if (degradedBy) return { ...given, degraded: true, degradedBy };
    }
    return given;
  }

  /**
   * Reads the answer of another process. It says how far in the journal that process had read, and shows this one if events were lost.
   * Undefined for bytes that are no answer.
   */
  #read({ answer, asOfMs }: Asked, percentiles: readonly number[]): WindowStats | undefined {
    if (answer.length !== 8 * (12 + percentiles.length)) return undefined;
    const [count, sum, mean, min, max, variance, from, to, reason, number, birth, length, ...ranked] = new Float64Array(
      answer.slice().buffer,
    ) as unknown as Twelve;
    if (number > 0)
      for (const { rollbacks } of this.#own.losses()) rollbacks.compare({ number, birth, length }, asOfMs);
    const degradedBy = REASONS[reason];
    const stats = { count, sum, mean, min, max, variance, std: Math.sqrt(variance), from, to, asOfMs };
    const found = { ...stats, percentiles: Object.fromEntries(percentiles.map((p, i) => [p, ranked[i]!])) };
    return degradedBy ? { ...found, degraded: true, degradedBy } : { ...found, degraded: false };
  }
}

const REASONS = [undefined, "retention", "lost", "local", "clock"] as const satisfies (Degraded | undefined)[];

type Twelve = [
  ...[number, number, number, number, number, number],
  ...[number, number, number, number, number, number],
  ...number[],
];

/**
 * Numbers of 8 bytes: the statistics as below, the index of the reason in REASONS, the end of the journal that this process has seen
 * (zeros if it has seen none), and the percentiles.
 */
function bytesOf(stats: WindowStats, { percentiles }: StatsQuery, seen: JournalPosition | undefined): Uint8Array {
  const { count, sum, mean, min, max, variance, from, to } = stats;
  const reason = REASONS.indexOf(stats.degradedBy as never);
  const { number, birth, length } = seen ?? { number: 0, birth: 0, length: 0 };
  const ranked = percentiles.map((p) => stats.percentiles[p]!);
  const numbers = [count, sum, mean, min, max, variance, from, to, reason, number, birth, length, ...ranked];
  return new Uint8Array(Float64Array.from(numbers).buffer);
}
