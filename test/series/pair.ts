import { expect } from "vitest";
import type { NanPolicy } from "../../src/engine/kernel/nan.ts";
import type { StatsOptions } from "../../src/engine/stats/window-query.ts";
import type { WindowStats } from "../../src/engine/stats/window-stats.ts";
import { LocalSeries, memoryStore, Series } from "../../src/entries/index.ts";
import { type Event, expectStats, inside } from "../stats/oracle.ts";

export interface PairOptions {
  retention: number;
  values?: "float32" | "float64";
  nan?: NanPolicy;
  startMs?: number;
}

/** The same events in a local series, in a series and for a cold reader of it, all on one stepped clock. */
export class Pair {
  nowMs: number;
  readonly events: Event[] = [];
  readonly local: LocalSeries;
  readonly series: Series;
  readonly #store;
  readonly #options;

  constructor({ startMs = 4_000_000_000_000, values = "float64", ...options }: PairOptions) {
    this.nowMs = startMs;
    this.#options = { values, ...options };
    this.#store = memoryStore({ clock: () => this.nowMs, maxBytes: 2 ** 30 });
    this.local = new LocalSeries({ ...this.#options, clock: () => this.nowMs });
    this.series = this.reader();
  }

  reader(): Series {
    return new Series(this.#store, "pair", this.#options);
  }

  /** Records at `at`, or now, in one call. */
  async put(values: readonly number[], at?: number | readonly number[]): Promise<void> {
    const options = at === undefined ? {} : { at };
    this.local.recordMany(values, options);
    await this.series.recordMany(values, options);
    const timeOf = (i: number) => (typeof at === "object" ? at[i]! : (at ?? this.nowMs));
    for (const [i, value] of values.entries())
      this.events.push({
        t: Math.floor(timeOf(i)),
        value: this.#options.values === "float32" ? Math.fround(value) : value,
      });
  }

  /** Every one of the three answers as brute force does; returns the resident one's. */
  async check(options: StatsOptions = {}, { cold = true } = {}): Promise<WindowStats> {
    const answers = [this.local.stats(options), await this.series.stats(options)];
    if (cold) answers.push(await this.reader().stats(options));
    const { percentiles, method, ddof, closed } = options;
    const asked = { ...(percentiles && { percentiles }), ...(method && { method }), ...(ddof && { ddof }) };
    for (const answer of answers) {
      expect(answer.from).toBe(answers[0]!.from);
      const values = inside(this.events, answer.from, answer.to, closed);
      expectStats(answer, values, { ...asked, nan: this.#options.nan ?? "reject" });
    }
    return answers[1]!;
  }
}
