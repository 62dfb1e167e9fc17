import { expect } from "vitest";
import { constants } from "../../../src/engine/journal/format/constants.ts";
import type { SeriesOptions } from "../../../src/engine/series/series-options.ts";
import type { StatsOptions } from "../../../src/engine/stats/window-query.ts";
import { OrielError, type OrielErrorCode, Series } from "../../../src/entries/index.ts";
import { type Event, expectAlike, expectStats, inside } from "../../stats/oracle.ts";
import type { OpenStore } from "./stores.ts";

/** One test's series over a store that is empty when it begins, and what was recorded into it. */
export interface Stage extends OpenStore {
  series: Series;
  events: Event[];
  /** Opens `series`; its events are kept in `events` by `put`. */
  open(options?: SeriesOptions): Series;
  /** The same series as another process sees it. */
  reader(options?: SeriesOptions): Series;
  /** Records now, one event per value, in one call. */
  put(...values: number[]): Promise<void>;
  /** Compares an answer, and the one computed inside the store, with brute force over `events`. `now` defaults to the clock. */
  check(options?: StatsOptions & { now?: number }, series?: Series): Promise<void>;
}

export const NAME = "api:latency";

export function stageOn(opened: OpenStore): Stage {
  let settings: SeriesOptions = {};
  const stage: Stage = {
    ...opened,
    series: undefined as never,
    events: [],
    open(options = {}) {
      settings = { retention: "1m", ...opened.modes, ...options };
      stage.series = new Series(opened.store, NAME, settings);
      return stage.series;
    },
    reader: (options = {}) => new Series(opened.other, NAME, { ...settings, ...options }),
    async put(...values) {
      const t = opened.clock.nowMs;
      await stage.series.recordMany(values);
      stage.events.push(...values.map((value) => ({ t, value: stored(value, settings) })));
    },
    async check({ now = opened.clock.nowMs, ...options } = {}, series = stage.series) {
      const answer = await series.stats(options);
      // A process that has nothing yet answers from outlines.
      const fresh = stage.reader({ retention: series.retentionMs });
      expectAlike(await fresh.stats(options), answer);
      await fresh.close();
      const toMs = options.at === undefined ? now : Number(options.at);
      expect(answer.to).toBe(toMs);
      const { percentiles, method, ddof } = options;
      const asked = {
        ...(percentiles && { percentiles }),
        ...(method && { method }),
        ...(ddof && { ddof }),
        ...(settings.nan && { nan: settings.nan }),
      };
      expectStats(answer, inside(stage.events, answer.from, toMs, options.closed), asked);
    },
  };
  return stage;
}

function stored(value: number, { values = "float32" }: SeriesOptions): number {
  return values === "float32" ? Math.fround(value) : value;
}

/** The call rejects with this code, and its text matches. */
export async function expectError(call: Promise<unknown>, code: OrielErrorCode, text = /./): Promise<OrielError> {
  const error = await call.then(
    () => expect.fail(`nothing was refused; ${code} was expected`),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(OrielError);
  expect(error).toMatchObject({ code });
  expect((error as OrielError).message).toMatch(text);
  return error as OrielError;
}

/** Every key has an expiry, and none lies further off than the longest life of a chunk. */
export async function expectExpiries({ keys, expiryOf, clock }: OpenStore, retentionMs: number): Promise<void> {
  const longest = retentionMs + Math.max(1000, Math.ceil(retentionMs / 64)) + constants.expirySlackMs + 999;
  for (const key of await keys()) {
    const expiryMs = await expiryOf(key);
    expect(expiryMs, key).toBeGreaterThan(clock.nowMs - 1);
    expect(expiryMs, key).toBeLessThanOrEqual(clock.nowMs + longest);
  }
}

/** A deletion leaves one key, which outlasts the time in which copies may come by a minute. */
export async function expectGuardOnly({ keys, expiryOf, clock }: OpenStore): Promise<void> {
  expect(await keys()).toEqual([`oriel:{${NAME}}`]);
  const longest = constants.dedupeMs + constants.expirySlackMs;
  expect(await expiryOf(`oriel:{${NAME}}`)).toBeLessThanOrEqual(clock.nowMs + longest);
}
