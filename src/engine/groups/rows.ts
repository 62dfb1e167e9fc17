import { argumentError, checkKnown, wholeNumber } from "../../base/errors.ts";
import type { NanPolicy } from "../kernel/nan.ts";
import {
  type DefaultPercentiles,
  STATS_OPTIONS,
  type StatsOptions,
  type StatsQuery,
  statsQuery,
} from "../stats/window-query.ts";
import { type Degraded, statsOf, type WindowStats } from "../stats/window-stats.ts";
import { type GroupedWindow, type PlacedWindow, rowAggregates } from "./grouped-window.ts";
import { GroupTree, type Labels, labelValue, OTHER } from "./labels.ts";

/** The values that a label may have. */
export type Match<Name extends string> = { readonly [Label in Name]?: string | readonly string[] | undefined };

/** The window of a question about groups, and the statistics to compute. */
export interface GroupStatsOptions<
  Name extends string = string,
  By extends readonly Name[] = readonly Name[],
  P extends readonly number[] = DefaultPercentiles,
> extends StatsOptions<P> {
  /** The labels of a row; default: all. Groups that differ in other labels only are one row. `[]`: one row for all groups. */
  by?: By | undefined;
  /** Only groups whose labels have these values, or one of a list. */
  match?: Match<Name> | undefined;
}

/** A number of a row by which `top` orders them. */
export type RowMeasure = "count" | "sum" | "mean" | "min" | "max" | "std" | "variance" | `p${number}`;

/** The percentile that a measure is. */
export type PercentileOf<Measure extends RowMeasure> = Measure extends `p${infer P extends number}` ? P : never;

/** The window and the rows of `top`, and the number that orders them. */
export interface TopOptions<
  Name extends string = string,
  By extends readonly Name[] = readonly Name[],
  P extends readonly number[] = DefaultPercentiles,
  Measure extends RowMeasure = RowMeasure,
> extends Omit<GroupStatsOptions<Name, By, P>, "by"> {
  /** "count" (default), "sum", "mean", "min", "max", "std", "variance" or a percentile ("p99"). The first row has the largest one. */
  by?: Measure | undefined;
  /** The labels of a row, as `by` of `stats`. */
  labels?: By | undefined;
}

/** Statistics of all events of some groups, which have these labels in common. */
export interface GroupRow<Name extends string = string, P extends number = number>
  extends Pick<WindowStats<P>, "count" | "sum" | "mean" | "min" | "max" | "variance" | "std" | "percentiles"> {
  labels: Labels<Name>;
}

/** The answer to a question about groups. */
export interface GroupRows<Name extends string = string, P extends number = number>
  extends Pick<WindowStats, "from" | "to" | "degraded" | "degradedBy" | "missingShare"> {
  /** Rows with an event inside the window. Of `stats` those with most events first. */
  rows: GroupRow<Name, P>[];
  /** Events of the window whose labels are not kept, because there are more than `maxGroups` groups. They count as `_other`. */
  others: number;
}

export interface RowsQuery extends StatsQuery {
  /** Places of the row's labels among the declared ones. */
  by: readonly number[];
  /** For each declared label the values that match; undefined: all. */
  match: readonly (ReadonlySet<string> | undefined)[];
}

const ROW_OPTIONS = [...STATS_OPTIONS, "by", "match"];
const TOP_OPTIONS = [...ROW_OPTIONS, "labels"];

export function rowsQuery(
  options: GroupStatsOptions<string, readonly string[], readonly number[]>,
  names: readonly string[],
  retentionMs: number,
  known = ROW_OPTIONS,
  argument = "by",
): RowsQuery {
  const query = statsQuery(options, retentionMs, "at", known);
  const by = labelsOf(argument, options.by ?? names, names);
  return { ...query, by, match: matchOf(options.match ?? {}, names) };
}

/** Asks for the `most` first rows by one of their numbers. */
export interface TopQuery extends RowsQuery {
  most: number;
  measure: (row: GroupRow) => number;
}

const MAX_TOP = 100_000;
const MEASURES: readonly string[] = ["count", "sum", "mean", "min", "max", "std", "variance"];

export function topQuery(
  most: number,
  asked: TopOptions<string, readonly string[], readonly number[]>,
  names: readonly string[],
  retentionMs: number,
): TopQuery {
  wholeNumber("n", most, 1, MAX_TOP);
  checkKnown(asked, TOP_OPTIONS);
  const { by = "count", labels, ...options } = asked;
  const query = rowsQuery({ ...options, by: labels }, names, retentionMs, ROW_OPTIONS, "labels");
  if (MEASURES.includes(by)) return { ...query, most, measure: (row) => row[by as "count"] };
  const p = typeof by === "string" && /^p\d+(\.\d+)?$/.test(by) ? Number(by.slice(1)) : Number.NaN;
  if (!(p <= 100)) throw argumentError("by", by, `"${MEASURES.join('", "')}" or a percentile such as "p99"`);
  const percentiles = query.percentiles.includes(p) ? query.percentiles : [...query.percentiles, p];
  return { ...query, percentiles, most, measure: ({ percentiles: its }) => its[p]! };
}

function labelsOf(argument: string, labels: readonly string[], names: readonly string[]): number[] {
  if (!Array.isArray(labels)) throw argumentError(argument, labels, "an array of labels");
  return Array.from(labels, (label, i) => {
    const place = names.indexOf(label);
    if (place < 0 || labels.indexOf(label) < i)
      throw argumentError(`${argument}[${i}]`, label, `one of the labels ${names.join(", ")}, each once`);
    return place;
  });
}

function matchOf(match: Match<string>, names: readonly string[]): (ReadonlySet<string> | undefined)[] {
  checkKnown(match, names, "match");
  return names.map((name) => {
    // Each object inherits a "constructor".
    const wanted = Object.hasOwn(match, name) ? match[name] : undefined;
    if (wanted === undefined) return undefined;
    const list = Array.isArray(wanted) ? wanted : [wanted];
    return new Set(list.map((value) => labelValue(`match.${name}`, value)));
  });
}

/** The window of one journal, and how the numbers of its groups are read. */
export interface NamedWindow {
  events: GroupedWindow;
  fromMs: number;
  toMs: number;
  /** Of all events of the journal; -Infinity if there are none. */
  latestMs: number;
  degradedBy: Degraded | undefined;
  /** The values of a group's labels. */
  valuesOf(number: number): readonly string[] | undefined;
  /** The groups that have numbers. Without room for more, the events of all others have the number `others`. */
  numbered: readonly NamedNumbers[];
}

/** Groups of one journal that were numbered together. */
interface NamedNumbers {
  others: number;
  hasRoom: boolean;
  numberOf(values: readonly string[]): number | undefined;
}

/**
 * The rows of the windows of some journals, those with most events first. Numbers without a name count as `_other`, and the answer is
 * degraded.
 */
export function rowsOf(
  windows: readonly NamedWindow[],
  query: RowsQuery,
  { labels: names, nan }: { labels: readonly string[]; nan: NanPolicy },
): GroupRows {
  const { placed, labels, others, isUnnamed } = placesOf(windows, query, names);
  const rows = rowAggregates(placed, labels.length).map((aggregates, i): GroupRow => {
    const { count, sum, mean, min, max, variance, std, percentiles } = statsOf(aggregates, query, nan, 0, 0, undefined);
    return { labels: labels[i]!, count, sum, mean, min, max, variance, std, percentiles };
  });
  rows.sort((one, other) => other.count - one.count);
  const degradedBy = windows.find((window) => window.degradedBy)?.degradedBy ?? (isUnnamed ? "lost" : undefined);
  const [from, to] = [Math.max(...windows.map(({ fromMs }) => fromMs)), Math.max(...windows.map(({ toMs }) => toMs))];
  const answer: GroupRows = { rows, others, from, to, degraded: degradedBy !== undefined };
  if (degradedBy) answer.degradedBy = degradedBy;
  return answer;
}

/** The first rows by the number that the query names. Rows where it is NaN come last. */
export function firstRows(rows: readonly GroupRow[], { most, measure }: TopQuery): GroupRow[] {
  const placed = rows.map((row) => ({
    row,
    place: Number.isNaN(measure(row)) ? Number.NEGATIVE_INFINITY : measure(row),
  }));
  placed.sort((one, other) => (one.place === other.place ? 0 : other.place > one.place ? 1 : -1));
  return placed.slice(0, most).map(({ row }) => row);
}

/**
 * Puts the groups of windows into rows.
 *
 * Law: a group that one of the journals counts as `_other`, or did before its names began anew, is no row of its own. So a row has all
 * events of its groups.
 */
function placesOf(windows: readonly NamedWindow[], { by, match }: RowsQuery, names: readonly string[]) {
  const labels: Labels[] = [];
  const rows = new GroupTree();
  const other = names.map(() => OTHER);
  const counted = windows.map((window) => ({ ...window, counts: window.events.counts() }));
  const full = counted.flatMap(({ counts, numbered }) =>
    numbered.filter(({ others, hasRoom }) => !hasRoom && (counts[others] ?? 0) > 0),
  );
  let others = 0;
  let isUnnamed = false;
  const rowOf = (values: readonly string[]): number => {
    if (match.some((wanted, i) => wanted && !wanted.has(values[i]!))) return -1;
    const its = by.map((place) => values[place]!);
    const known = its.length === 0 ? labels.length - 1 : (rows.numberOf(its) ?? -1);
    if (known >= 0) return known;
    const row = labels.push(Object.fromEntries(by.map((place, i) => [names[place]!, its[i]!]))) - 1;
    if (its.length > 0) rows.set(its, row);
    return row;
  };
  const placed = counted.map(({ events, counts, valuesOf, numbered }): PlacedWindow => {
    const places = new Int32Array(counts.length).fill(-1);
    for (let number = 0; number < counts.length; number++) {
      if (counts[number] === 0) continue;
      const named = valuesOf(number);
      if (!named && !numbered.some(({ others }) => others === number)) isUnnamed = true;
      const known = named && full.every((its) => its.numberOf(named) !== undefined) ? named : undefined;
      if (!known) others += counts[number]!;
      places[number] = rowOf(known ?? other);
    }
    return { events, places };
  });
  return { placed, labels, others, isUnnamed };
}
