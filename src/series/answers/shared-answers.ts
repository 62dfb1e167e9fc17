import { endsWithRequest } from "../../async/of-request.ts";
import { IDLE_TIMERS, type Timers } from "../../async/timers.ts";
import { ASKED, CLAIM_MS } from "../../generated/layouts/series.ts";
import type { StatsQuery } from "../../stats/window-query.ts";
import type { Degraded, WindowStats } from "../../stats/window-stats.ts";
import type { Store } from "../../store/contract.ts";
import type { Clock } from "../../time.ts";
import { isUnreachable } from "../refused.ts";
import { type Ask, type Asked, ask } from "./ask.ts";
import { publish } from "./publish.ts";

/** The process of an answer renews it after this share of the age that others allow for. */
const RENEW_AFTER = 0.5;
const MAX_QUESTIONS = 1024;
const FIRST_WAIT_MS = 2;
const LONGEST_WAIT_MS = 64;

/** How a process computes an answer, and why one that another process computed may lack events that this one has seen. */
export interface OwnAnswers {
  compute(query: StatsQuery): Promise<WindowStats>;
  missingReason(fromMs: number): Degraded | undefined;
}

/** One question, and the last answer that this process has of it. */
interface Question {
  readonly key: string;
  /** Without repetitions, in ascending order. */
  readonly percentiles: readonly number[];
  /** Of this process, for the store. */
  readonly id: number;
  answer: WindowStats | undefined;
  /** The answer has all events that were acknowledged before this time of the lease clock. */
  sinceMs: number;
  running: Promise<void> | undefined;
  cancelRenewal: (() => void) | undefined;
}

/**
 * The answers that the processes of a series share, for questions with `maxAge`.
 *
 *   No answer is fresh:          one process takes the claim, computes, and publishes. The others wait for it.
 *   An answer is fresh:          some hundred bytes are read.
 *   It will soon be too old:     its process renews it, if another one has asked for it since.
 *   That process is gone:        the next one that finds the answer too old takes the claim.
 *
 * So one process has the copy of the events, and the others have none. Law: an answer has all events that were acknowledged `maxAge`
 * before the call. A process that fails, waits or stops delays the others by its claim at most. If sharing itself fails, a
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
  }

  async stats(query: StatsQuery): Promise<WindowStats> {
    const question = this.#questionOf(query);
    const earliestMs = this.#now() - query.maxAgeMs;
    for (;;) {
      if (question.answer && question.sinceMs >= earliestMs) return this.#given(question.answer, query);
      if (endsWithRequest) return this.#given(await this.#answer(question, query, this.#newId()), query);
      question.running ??= this.#run(question, () => this.#answer(question, query, question.id));
      await question.running;
    }
  }

  /** The series was deleted by this process: calls from now on do not get answers from before. */
  forget(): void {
    this.#deletedMs = this.#now();
    for (const { cancelRenewal } of this.#questions.values()) cancelRenewal?.();
    this.#questions.clear();
  }

  close(): void {
    this.#isClosed = true;
    this.forget();
  }

  #questionOf(query: StatsQuery): Question {
    const known = this.#questions.get(query.kind);
    if (known) return known;
    const { spanMs, atMs = "", closed, method, ddof } = query;
    const percentiles = [...new Set(query.percentiles)].sort((one, other) => one - other);
    const text = [spanMs, atMs, closed, method, ddof, percentiles].join(":");
    const question: Question = {
      key: `${this.#key}:${text}`,
      percentiles,
      id: this.#newId(),
      answer: undefined,
      sinceMs: Number.NEGATIVE_INFINITY,
      running: undefined,
      cancelRenewal: undefined,
    };
    this.#questions.set(query.kind, question);
    if (this.#questions.size > MAX_QUESTIONS) {
      const [[kind, oldest]] = this.#questions as unknown as [[string, Question]];
      oldest.cancelRenewal?.();
      this.#questions.delete(kind);
    }
    return question;
  }

  /** 0 is no process. */
  #newId(): number {
    return this.#entropy() || 1;
  }

  async #run(question: Question, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } finally {
      question.running = undefined;
    }
  }

  async #answer(question: Question, query: StatsQuery, id: number): Promise<WindowStats> {
    const untilMs = this.#now() + 2 * query.maxAgeMs + CLAIM_MS;
    for (let waitMs = FIRST_WAIT_MS; this.#now() <= untilMs; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      const askedMs = this.#now();
      const maxAgeMs = Math.floor(Math.min(query.maxAgeMs, askedMs - this.#deletedMs - 1));
      const asked = maxAgeMs < 1 ? undefined : await this.#ask({ maxAgeMs, id, isRenewal: false }, question);
      if (!asked) break;
      if (asked.status === ASKED.wait) {
        await this.#timers.pause(Math.min(waitMs, asked.ms));
        continue;
      }
      const found = asked.status === ASKED.fresh && answerOf(asked, question.percentiles);
      // The times of the server are whole ms, so the answer may be 1 ms older.
      if (found) return this.#keep(question, found, askedMs - (asked.nowMs - asked.asOfMs) - 1);
      return this.#compute(question, query, id, asked.nowMs, askedMs);
    }
    const begunMs = this.#now();
    return this.#keep(question, await this.#own.compute(fresh(query)), begunMs);
  }

  /** Undefined if the answer cannot be shared. Throws if the store cannot be reached. */
  async #ask(input: Ask, { key }: Question): Promise<Asked | undefined> {
    try {
      return await this.#store.run(ask, key, input);
    } catch (error) {
      if (isUnreachable(error)) throw error;
      return undefined;
    }
  }

  async #compute(
    question: Question,
    query: StatsQuery,
    id: number,
    asOfMs: number,
    sinceMs: number,
  ): Promise<WindowStats> {
    const { key, percentiles } = question;
    const { maxAgeMs } = query;
    const tell = (answer: Uint8Array) =>
      this.#store.run(publish, key, { id, asOfMs, maxAgeMs, answer }).catch(() => undefined);
    let stats: WindowStats;
    try {
      stats = await this.#own.compute(fresh(query));
    } catch (error) {
      await tell(new Uint8Array());
      throw error;
    }
    const told = tell(bytesOf(stats, percentiles));
    if (endsWithRequest) await told;
    else this.#renewLater(question, query, sinceMs);
    return this.#keep(question, { ...stats, asOfMs }, sinceMs);
  }

  #renewLater(question: Question, query: StatsQuery, sinceMs: number): void {
    question.cancelRenewal?.();
    const afterMs = Math.max(0, RENEW_AFTER * query.maxAgeMs - (this.#now() - sinceMs));
    question.cancelRenewal = this.#isClosed
      ? undefined
      : this.#timers.after(afterMs, () => {
          // A caller that asks meanwhile waits for it. An error reaches the next caller that asks itself.
          question.running ??= this.#run(question, () => this.#renew(question, query)).catch(() => {});
        });
  }

  async #renew(question: Question, query: StatsQuery): Promise<void> {
    const askedMs = this.#now();
    const { id } = question;
    const asked = await this.#ask({ maxAgeMs: query.maxAgeMs, id, isRenewal: true }, question);
    if (asked?.status === ASKED.claimed)
      await this.#compute(question, { ...query, maxAgeMs: asked.ms }, id, asked.nowMs, askedMs);
  }

  #keep(question: Question, answer: WindowStats, sinceMs: number): WindowStats {
    if (sinceMs > question.sinceMs) Object.assign(question, { answer, sinceMs });
    return answer;
  }

  /** An object of the caller's own, with the percentiles in its order. */
  #given(answer: WindowStats, { percentiles }: StatsQuery): WindowStats {
    const given: WindowStats = { ...answer, percentiles: {} };
    for (const p of percentiles) given.percentiles[p] = answer.percentiles[p]!;
    const degradedBy = answer.degradedBy ?? this.#own.missingReason(answer.from);
    return degradedBy ? { ...given, degraded: true, degradedBy } : given;
  }
}

function fresh(query: StatsQuery): StatsQuery {
  return { ...query, maxAgeMs: 0 };
}

const REASONS = [undefined, "retention", "lost", "local", "clock"] as const satisfies (Degraded | undefined)[];

/** Numbers of 8 bytes: the statistics as below, the index of the reason in REASONS, and the percentiles. */
function bytesOf(stats: WindowStats, percentiles: readonly number[]): Uint8Array {
  const { count, sum, mean, min, max, variance, from, to } = stats;
  const reason = REASONS.indexOf(stats.degradedBy as never);
  const ranked = percentiles.map((p) => stats.percentiles[p]!);
  return new Uint8Array(Float64Array.of(count, sum, mean, min, max, variance, from, to, reason, ...ranked).buffer);
}

/** Undefined if the bytes are no answer to this question. */
function answerOf({ answer, asOfMs }: Asked, percentiles: readonly number[]): WindowStats | undefined {
  if (answer.length !== 8 * (9 + percentiles.length)) return undefined;
  const [count, sum, mean, min, max, variance, from, to, reason, ...ranked] = new Float64Array(
    answer.slice().buffer,
  ) as unknown as [number, number, number, number, number, number, number, number, number, ...number[]];
  const degradedBy = REASONS[reason];
  const stats = { count, sum, mean, min, max, variance, std: Math.sqrt(variance), from, to, asOfMs };
  const found = { ...stats, percentiles: Object.fromEntries(percentiles.map((p, i) => [p, ranked[i]!])) };
  return degradedBy ? { ...found, degraded: true, degradedBy } : { ...found, degraded: false };
}
