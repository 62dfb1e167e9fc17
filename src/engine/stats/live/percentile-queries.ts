import { checkKnown } from "../../../base/errors.ts";
import type { Closed, Duration } from "../../../base/time.ts";
import type { NanPolicy } from "../../kernel/nan.ts";
import type { PercentileMethod } from "../../kernel/percentile/percentile.ts";
import type { Segment } from "../segments/segment.ts";
import { type StatsQuery, statsQuery } from "../window-query.ts";
import { LivePercentile } from "./live-percentile.ts";

/** Options of `LocalSeries.percentile`. */
export interface LocalPercentileOptions {
  /** Length of the window, which ends now; at most the series' retention, which is the default. */
  span?: Duration | undefined;
  /** One of NumPy's 13 methods; default "linear". */
  method?: PercentileMethod | undefined;
  /** "right" (default): from < t <= now. "both": from <= t <= now. */
  closed?: Closed | undefined;
}

const OPTIONS = ["span", "method", "closed"];

/** Limits of percentiles that are updated with each event. */
export interface LiveLimits {
  /** Maximum number of ranks on either side of the percentile for which candidates are kept. */
  maxWidth: number;
  /** Maximum number of events that enter, or leave, between two queries. Above it the query uses `stats`. */
  maxChanges: number;
  /** Number of queries that use `stats` before a live percentile is started; one more for each 16 384 events. */
  patience: number;
  /** Maximum number of different queries. Above it the least recently used one is dropped. */
  maxQueries: number;
}

export const LIVE_LIMITS: LiveLimits = { maxWidth: 4096, maxChanges: 4096, patience: 2, maxQueries: 8 };
const MAX_PATIENCE = 1024;

interface RepeatedQuery {
  readonly p: number;
  readonly span: Duration | undefined;
  readonly method: PercentileMethod | undefined;
  readonly closed: Closed | undefined;
  readonly query: StatsQuery;
  live: LivePercentile | undefined;
  /** Number of answers since the live percentile was started or given up. */
  answers: number;
  patience: number;
  lastUsed: number;
}

/** The percentile queries of one series. A query that is repeated often enough gets a live percentile. */
export class PercentileQueries {
  readonly #retentionMs: number;
  readonly #nan: NanPolicy;
  readonly #limits: LiveLimits;
  #queries: RepeatedQuery[] = [];
  #last: RepeatedQuery | undefined;
  #lastOptions: LocalPercentileOptions | undefined;
  #uses = 0;
  #releasedAtUse = 0;

  constructor(retentionMs: number, nan: NanPolicy, limits: LiveLimits) {
    this.#retentionMs = retentionMs;
    this.#nan = nan;
    this.#limits = limits;
  }

  /** The percentile of the window that ends now; undefined if the caller must use `stats`. Throws ARGUMENT as `stats`. */
  answer(p: number, options: LocalPercentileOptions, segments: readonly Segment[], nowMs: number): number | undefined {
    const repeated = this.#repeatedOf(p, options);
    repeated.lastUsed = ++this.#uses;
    repeated.answers++;
    repeated.live ??= this.#start(repeated, segments, nowMs);
    if (repeated.live === undefined) return undefined;
    const answer = repeated.live.answer(segments, nowMs);
    if (answer === undefined) this.#giveUp(repeated);
    return answer;
  }

  /** Drops live percentiles that were not used since the last release, so that they keep no expired segments. */
  release(): void {
    for (const repeated of this.#queries) if (repeated.lastUsed <= this.#releasedAtUse) repeated.live = undefined;
    this.#releasedAtUse = this.#uses;
  }

  #repeatedOf(p: number, options: LocalPercentileOptions): RepeatedQuery {
    const last = this.#last;
    if (options !== this.#lastOptions || last === undefined || !isSame(last, p, options))
      this.#last = this.#find(p, options);
    return this.#last!;
  }

  #find(p: number, options: LocalPercentileOptions): RepeatedQuery {
    checkKnown(options, OPTIONS);
    this.#lastOptions = options;
    const known = this.#queries.find((each) => isSame(each, p, options));
    if (known) return known;
    const { span, method, closed } = options;
    const query = statsQuery({ percentiles: [p], span, method, closed }, this.#retentionMs);
    const { patience, maxQueries } = this.#limits;
    const repeated = { p, span, method, closed, query, live: undefined, answers: 0, lastUsed: 0, patience };
    if (this.#queries.length === maxQueries) {
      const oldest = this.#queries.reduce((first, each) => (each.lastUsed < first.lastUsed ? each : first));
      this.#queries[this.#queries.indexOf(oldest)] = repeated;
    } else this.#queries.push(repeated);
    return repeated;
  }

  #start(repeated: RepeatedQuery, segments: readonly Segment[], nowMs: number): LivePercentile | undefined {
    if (repeated.answers <= repeated.patience) return undefined;
    const events = segments.reduce((sum, segment) => sum + segment.count, 0);
    if (repeated.answers <= repeated.patience + (events >>> 14)) return undefined;
    const { maxWidth, maxChanges } = this.#limits;
    const live = new LivePercentile(repeated.p, repeated.query, this.#nan, maxWidth, maxChanges);
    repeated.answers = 0;
    if (live.begin(segments, nowMs)) return live;
    this.#giveUp(repeated);
    return undefined;
  }

  /** Drops the live percentile. If it did not last, the next start takes twice as many answers. */
  #giveUp(repeated: RepeatedQuery): void {
    const lasted = repeated.answers > 2 * repeated.patience;
    repeated.patience = lasted ? this.#limits.patience : Math.min(MAX_PATIENCE, 2 * repeated.patience);
    repeated.live = undefined;
    repeated.answers = 0;
  }
}

function isSame(repeated: RepeatedQuery, p: number, { span, method, closed }: LocalPercentileOptions): boolean {
  return repeated.p === p && repeated.span === span && repeated.method === method && repeated.closed === closed;
}
