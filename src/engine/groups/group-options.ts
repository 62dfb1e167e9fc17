import { wholeNumber } from "../../base/errors.ts";
import { type Schema, settingsOf } from "../../base/options.ts";
import { VALUE_PAIR } from "../journal/format/constants.ts";
import { NUMBER_MASK, pairOf } from "../kernel/blocks/pairs.ts";
import { checkValue } from "../kernel/nan.ts";
import { SERIES, type SeriesOptions, seriesSettings } from "../series/series-options.ts";
import { rounded } from "../series/session/commit-loop.ts";
import { labelNames } from "./labels.ts";

/**
 * Options of `SeriesGroup`: those of `Series` without `values`, which are float32, and without `onStoreError`, because only the store
 * gives new groups their numbers.
 */
export interface SeriesGroupOptions<Names extends readonly string[] = readonly string[]>
  extends Omit<SeriesOptions, "values" | "onStoreError"> {
  /** The names of the labels, 1 to 16. The same for all processes that share the series. */
  labels: Names;
  /**
   * Maximum number of groups with events; default 10 000. All processes use that of the one which began the names. The events of all
   * others count as the group `_other`. A warning says so once.
   */
  maxGroups?: number | undefined;
}

const ofGroups = ({ values: _values, onStoreError: _onStoreError, ...known }: typeof SERIES) => known;
/** The options of `SeriesGroup`. */
export const GROUP = {
  ...ofGroups(SERIES),
  labels: [labelNames],
  maxGroups: [wholeNumber, 10_000, 1, NUMBER_MASK],
} as const satisfies Schema<SeriesGroupOptions>;

export type GroupSettings = ReturnType<typeof groupSettings>;

export function groupSettings(options: SeriesGroupOptions) {
  const { labels, maxGroups } = settingsOf(GROUP, options);
  const { labels: _labels, maxGroups: _maxGroups, ...ofSeries } = options;
  const { announced, ...rest } = seriesSettings(ofSeries);
  const [{ clock }, own] = announced;
  return {
    labels,
    maxGroups,
    /** Of the events that the store has: pairs, which are rounded already. */
    series: { ...rest, announced, valueType: VALUE_PAIR, unitsPerOne: 0 },
    nan: rest.nan,
    unitsPerOne: rest.unitsPerOne,
    /** What all processes must share, and what is this one's own. */
    announced: [
      { clock, labels: labels.join(" ") },
      { ...own, maxGroups },
    ] as const,
  };
}

/** The pair of a checked value, rounded as `resolution` says. */
export function checkedPair(
  value: number,
  number: number,
  { nan, unitsPerOne }: Pick<GroupSettings, "nan" | "unitsPerOne">,
): number {
  checkValue(value, 0, nan);
  return pairOf(number, unitsPerOne === 0 ? value : rounded(value, unitsPerOne));
}
