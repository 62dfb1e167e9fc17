import { checkKnown } from "../../errors.ts";
import type { NanPolicy } from "../../kernel/nan.ts";
import type { PercentileMethod } from "../../kernel/percentile/percentile.ts";
import type { Closed, Duration } from "../../time.ts";
import type { Segment } from "../segments/segment.ts";
import { type StatsQuery, statsQuery } from "../window-query.ts";
import { LivePercentile } from "./live-percentile.ts";

export interface LocalPercentileOptions {
  /** Length of the window, which ends now; at most the series' retention, which is the default. */
  span?: Duration | undefined;
  /** One of NumPy's 13 methods; default "linear". */
  method?: PercentileMethod | undefined;
  /** "right" (default): from < t <= now; "both": from <= t <= now. */
  closed?: Closed | undefined;
}

const OPTIONS = ["span", "method", "closed"];

/** How much live percentiles may hold and do. */
export interface LiveBounds {
  /** Ranks on either side of a percentile among which it is kept up to date. */
  widest: number;
  /** Events that may come, or go, from one question to the next: more are better looked up. */
  mostChanges: number;
  /** Questions that are looked up before one is kept up to date, and one more for each 16,384 events. */
  patience: number;
  mostQuestions: number;
}

export const LIVE_BOUNDS: LiveBounds = { widest: 4096, mostChanges: 4096, patience: 2, mostQuestions: 8 };
const MOST_PATIENCE = 1024;

interface Question {
  readonly p: number;
  readonly span: Duration | undefined;
  readonly method: PercentileMethod | undefined;
  readonly closed: Closed | undefined;
  readonly query: StatsQuery;
  live: LivePercentile | undefined;
  /** Answers since it was last begun or given up. */
  answers: number;
  patience: number;
  askedAt: number;
}

/** The percentiles that one series is asked for again and again, each kept up to date once that is worth it. */
export class LiveQuestions {
  readonly #retentionMs: number;
  readonly #nan: NanPolicy;
  readonly #bounds: LiveBounds;
  #questions: Question[] = [];
  #last: Question | undefined;
  #lastOptions: LocalPercentileOptions | undefined;
  #asked = 0;
  #releasedAt = 0;

  constructor(retentionMs: number, nan: NanPolicy, bounds: LiveBounds) {
    this.#retentionMs = retentionMs;
    this.#nan = nan;
    this.#bounds = bounds;
  }

  /** The percentile of the window that ends now; undefined when it is to be looked up. ARGUMENT as `stats`. */
  answer(p: number, options: LocalPercentileOptions, segments: readonly Segment[], nowMs: number): number | undefined {
    const question = this.#questionOf(p, options);
    question.askedAt = ++this.#asked;
    question.answers++;
    if (question.live === undefined && !this.#begin(question, segments, nowMs)) return undefined;
    const answer = question.live!.answer(segments, nowMs);
    if (answer === undefined) this.#giveUp(question);
    return answer;
  }

  /** Lets go of what was not asked for since the last release, so that it does not keep segments that are gone. */
  release(): void {
    for (const question of this.#questions) if (question.askedAt <= this.#releasedAt) question.live = undefined;
    this.#releasedAt = this.#asked;
  }

  #questionOf(p: number, options: LocalPercentileOptions): Question {
    const last = this.#last;
    if (options !== this.#lastOptions || last === undefined || !isSame(last, p, options))
      this.#last = this.#find(p, options);
    return this.#last!;
  }

  #find(p: number, options: LocalPercentileOptions): Question {
    checkKnown(options, OPTIONS);
    this.#lastOptions = options;
    for (let i = 0; i < this.#questions.length; i++)
      if (isSame(this.#questions[i], p, options)) return this.#questions[i];
    const { span, method, closed } = options;
    const query = statsQuery({ percentiles: [p], span, method, closed }, this.#retentionMs);
    const { patience, mostQuestions } = this.#bounds;
    const question = { p, span, method, closed, query, live: undefined, answers: 0, askedAt: 0, patience };
    if (this.#questions.length === mostQuestions) {
      const oldest = this.#questions.reduce((least, each) => (each.askedAt < least.askedAt ? each : least));
      this.#questions[this.#questions.indexOf(oldest)] = question;
    } else this.#questions.push(question);
    return question;
  }

  #begin(question: Question, segments: readonly Segment[], nowMs: number): boolean {
    if (question.answers <= question.patience) return false;
    const events = segments.reduce((sum, segment) => sum + segment.count, 0);
    if (question.answers <= question.patience + (events >>> 14)) return false;
    const { widest, mostChanges } = this.#bounds;
    const live = new LivePercentile(question.p, question.query, this.#nan, widest, mostChanges);
    question.answers = 0;
    if (!live.begin(segments, nowMs)) {
      this.#giveUp(question);
      return false;
    }
    question.live = live;
    return true;
  }

  /** What did not last is begun again later and later. */
  #giveUp(question: Question): void {
    const lasted = question.answers > 2 * question.patience;
    question.patience = lasted ? this.#bounds.patience : Math.min(MOST_PATIENCE, 2 * question.patience);
    question.live = undefined;
    question.answers = 0;
  }
}

function isSame(question: Question, p: number, { span, method, closed }: LocalPercentileOptions): boolean {
  return question.p === p && question.span === span && question.method === method && question.closed === closed;
}
