import { argumentError } from "../../../base/errors.ts";
import type { GroupCalls } from "../../../engine/groups/group-calls.ts";
import type { GroupRow, GroupRows } from "../../../engine/groups/rows.ts";
import { csvOf } from "../csv.ts";
import type { GroupLine, GroupsPart } from "../parts.ts";
import type { SeriesView, WindowNumbers } from "../protocol.ts";
import { type AskedWindow, finite, rateOf, stepMsOf, windowNumbers } from "./view.ts";

/** Rows of the table, by the number that the page sorts by. */
const MAX_ROWS = 100;
/** More buckets than this would cost more than they show: each is a question of its own. */
const MAX_BUCKETS = 60;
/** All questions of a view but the first are answered by the copy that it brought. */
const MAX_AGE = "1s";

/** A `SeriesGroup` or a `ShardedSeriesGroup`. */
export type AnyGroup = GroupCalls<readonly string[]>;

const MEASURES = ["count", "rate", "mean", "p50", "p90", "p99", "max"] as const;
const TEXTS = new Intl.Collator("en", { numeric: true });

/** The order of rows: by a number, or by a label. */
interface Order {
  readonly measure: (typeof MEASURES)[number];
  /** Place among the labels of a row; -1: by the number. */
  readonly label: number;
  readonly isRising: boolean;
}

/**
 * The rows of a window. Reads `by`, labels separated by commas (default: all), `sort`, a number or "label." and a label, and `order`,
 * "up" or "down". Throws ARGUMENT.
 */
export async function groupsOf(
  group: AnyGroup,
  { fromMs, toMs }: AskedWindow,
  query: URLSearchParams,
): Promise<GroupsPart> {
  const by = query.get("by")?.split(",") ?? group.labels;
  const order = orderOf(query, by);
  const window = { span: toMs - fromMs, at: toMs };
  const [all, whole] = await Promise.all([group.stats({ ...window, by }), group.stats({ ...window, by: [] })]);
  const lines = all.rows.map((row): GroupLine => lineOf(row, by, toMs - fromMs));
  return {
    fromMs,
    toMs,
    labels: group.labels,
    by,
    whole: numbersOf(whole),
    count: lines.length,
    others: all.others,
    rows: inOrder(lines, order).slice(0, MAX_ROWS),
  };
}

export function groupsCsv({ by, rows }: GroupsPart): string {
  return csvOf(
    [...by, ...MEASURES],
    rows.map((row) => [...row.values, ...MEASURES.map((measure) => row[measure])]),
  );
}

/**
 * The numbers over time of the groups that have the labels of `match`, an object in JSON. Each bucket is an answer of its own. Throws
 * ARGUMENT.
 */
export async function groupView(
  group: AnyGroup,
  { fromMs, toMs, buckets }: AskedWindow,
  query: URLSearchParams,
): Promise<SeriesView> {
  const match = matchOf(query.get("match"));
  const endsMs = endsOf(fromMs, toMs, Math.min(buckets, MAX_BUCKETS));
  const ask = (span: number, at: number) => group.stats({ by: [], match, span, at, maxAge: MAX_AGE });
  const whole = numbersOf(await ask(toMs - fromMs, toMs));
  const parts = (await Promise.all(endsMs.map((at, i) => ask(at - (endsMs[i - 1] ?? fromMs), at)))).map(numbersOf);
  const column = <Name extends "rate" | "p50" | "p90" | "p99" | "max">(name: Name) => parts.map((each) => each[name]);
  return {
    fromMs,
    toMs,
    endsMs,
    count: parts.map(({ count }) => count),
    rate: column("rate"),
    p50: column("p50"),
    p90: column("p90"),
    p99: column("p99"),
    max: column("max"),
    heat: null,
    whole,
  };
}

/** The row of a window without an event, which an answer leaves out. */
export const NO_EVENTS: GroupRow = {
  ...{ labels: {}, count: 0, sum: 0, percentiles: {} },
  ...{ mean: Number.NaN, min: Number.NaN, max: Number.NaN, variance: Number.NaN, std: Number.NaN },
};

/** The numbers of an answer about all groups together. */
export function numbersOf({ rows, ...window }: GroupRows): WindowNumbers {
  return windowNumbers({ ...window, ...(rows[0] ?? NO_EVENTS) }, undefined);
}

function lineOf({ labels, count, mean, max, percentiles }: GroupRow, by: readonly string[], spanMs: number): GroupLine {
  return {
    values: by.map((name) => labels[name]!),
    count,
    rate: rateOf(count, spanMs),
    mean: finite(mean),
    p50: finite(percentiles[50]),
    p90: finite(percentiles[90]),
    p99: finite(percentiles[99]),
    max: finite(max),
  };
}

function orderOf(query: URLSearchParams, by: readonly string[]): Order {
  const sort = query.get("sort") ?? "count";
  const order = query.get("order");
  const label = by.findIndex((name) => sort === `label.${name}`);
  const measure = MEASURES.find((each) => each === sort);
  if (label < 0 && !measure)
    throw argumentError("sort", sort, `one of ${MEASURES.join(", ")}, or "label." and a label of the rows`);
  if (order !== null && order !== "up" && order !== "down") throw argumentError("order", order, "up or down");
  return { measure: measure ?? "count", label, isRising: order === null ? label >= 0 : order === "up" };
}

/** Rows without the number are last in both orders. */
function inOrder(lines: GroupLine[], { measure, label, isRising }: Order): GroupLine[] {
  const sign = isRising ? 1 : -1;
  if (label >= 0) return lines.sort((a, b) => sign * TEXTS.compare(a.values[label]!, b.values[label]!));
  const none = sign * Number.POSITIVE_INFINITY;
  return lines.sort((a, b) => {
    const [one, other] = [a[measure] ?? none, b[measure] ?? none];
    return one === other ? 0 : sign * (one - other);
  });
}

function matchOf(text: string | null): Record<string, string> {
  try {
    const match: unknown = JSON.parse(text ?? "{}");
    if (Object.getPrototypeOf(match) === Object.prototype) return match as Record<string, string>;
  } catch {
    // The error below says what it must be.
  }
  throw argumentError("match", text, "an object of labels and their values, in JSON");
}

/** Ends of the buckets. They stay the same as the window moves, but the last one, which is the window's. */
function endsOf(fromMs: number, toMs: number, buckets: number): number[] {
  const stepMs = stepMsOf(toMs - fromMs, buckets);
  const ends: number[] = [];
  for (let at = (Math.floor(fromMs / stepMs) + 1) * stepMs; at < toMs; at += stepMs) ends.push(at);
  return [...ends, toMs];
}
