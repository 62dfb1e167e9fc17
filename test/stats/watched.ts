import { expect } from "vitest";
import { LIVE_LIMITS, type LocalPercentileOptions } from "../../src/engine/stats/live/percentile-queries.ts";
import type { WindowStats } from "../../src/engine/stats/window-stats.ts";
import { LocalSeries, type LocalSeriesOptions } from "../../src/entries/index.ts";
import type { Event } from "./oracle.ts";

export const START_MS = 1_700_000_000_000;
export const RETENTION_MS = 2000;

/** A series beside all events that were ever recorded in it. */
export class Watched extends LocalSeries {
  readonly events: Event[] = [];
  readonly time: { nowMs: number };
  /** Percentiles that were looked up, not kept up to date. */
  lookups = 0;
  readonly #round: (value: number) => number;

  constructor(
    options: Pick<LocalSeriesOptions, "values" | "nan" | "retention" | "compact"> = {},
    bounds = LIVE_LIMITS,
  ) {
    const time = { nowMs: START_MS };
    super({ retention: RETENTION_MS, ...options, clock: () => time.nowMs }, bounds);
    this.time = time;
    super.stats();
    this.#round = options.values === "float64" ? (value) => value : Math.fround;
  }

  override stats(options?: Parameters<LocalSeries["stats"]>[0]): WindowStats {
    this.lookups++;
    return super.stats(options);
  }

  add(value: number, at?: number): void {
    this.record(value, at === undefined ? undefined : { at });
    this.events.push({ t: at ?? this.time.nowMs, value: this.#round(value) });
  }

  addMany(values: readonly number[], at?: number): void {
    this.recordMany(values, at === undefined ? undefined : { at });
    for (const value of values) this.events.push({ t: at ?? this.time.nowMs, value: this.#round(value) });
  }

  /** Asks, and compares with `stats`; answers whether it was kept up to date. */
  ask(p: number, options: LocalPercentileOptions = {}): boolean {
    const lookupsBefore = this.lookups;
    const answer = this.percentile(p, options);
    const wasLive = this.lookups === lookupsBefore;
    const looked = super.stats({ ...options, percentiles: [p] }).percentiles[p]!;
    if (answer !== looked && !(Number.isNaN(answer) && Number.isNaN(looked)))
      expect.fail(`percentile(${p}, ${JSON.stringify(options)}) is ${answer}, by stats ${looked}`);
    return wasLive;
  }
}
