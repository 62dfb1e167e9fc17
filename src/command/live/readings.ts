import type { Colors } from "picocolors/types";
import type { GroupRow, GroupRows } from "../../entries/index.ts";
import { outcomeHistory } from "../../operate/dashboard/history/outcomes.ts";
import { NO_EVENTS } from "../../operate/dashboard/series/groups.ts";
import { age, asTyped, exact, instant } from "../../operate/format.ts";
import { forcedMsOfReply, readCircuit } from "../../operate/kinds/breaker.ts";
import { countersOf } from "../../operate/kinds/counters.ts";
import { fleetNames } from "../../operate/kinds/fleet.ts";
import { lockState } from "../../operate/kinds/locks.ts";
import { quotaText } from "../../operate/kinds/policy-text.ts";
import { queueState } from "../../operate/kinds/queue.ts";
import type { Identified, Scope } from "../../operate/kinds/scope.ts";
import { retentionMsOf, seriesOf } from "../../operate/kinds/series.ts";
import { groupOf } from "../../operate/kinds/series-group.ts";
import { settingsText } from "../../operate/kinds/settings-text.ts";
import type { StructureKind } from "../../store/registry/live.ts";
import { safeText } from "../text/safe-text.ts";
import { type Column, cut, tableLines } from "./columns.ts";
import type { Found } from "./find.ts";

/** The numbers of a structure at one moment. */
export interface Reading {
  /** Names and values, for people. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly table?: readonly Column[];
  readonly json: Readonly<Record<string, unknown>>;
}

interface ReadOptions {
  readonly spanMs: number;
  readonly percentiles: readonly number[];
}

type Read = (scope: Scope, structure: Identified, options: ReadOptions) => Promise<Reading>;

/** Rows of the latest bucket that counters show, and rows of groups. */
const SHOWN_ROWS = 10;

/** How `oriel stats` and `oriel watch` word the answers of a kind, which is opened and read by its descriptor. */
const READS: Partial<Record<StructureKind, Read>> = {
  async Series(scope, structure, { spanMs: longestMs, percentiles }) {
    const spanMs = Math.min(longestMs, retentionMsOf(structure));
    const stats = await seriesOf(scope, structure).stats({ span: spanMs, percentiles });
    const rate = (stats.count * 1000) / spanMs;
    return { facts: windowFacts(stats, spanMs, percentiles), json: { ...stats, rate, spanMs } };
  },
  async SeriesGroup(scope, structure, { spanMs: longestMs, percentiles }) {
    const group = groupOf(scope, structure);
    const spanMs = Math.min(longestMs, retentionMsOf(structure));
    const asked = { span: spanMs, percentiles };
    const [all, { rows }] = await Promise.all([group.stats({ ...asked, by: [] }), group.stats(asked)]);
    const { from, to, degraded, degradedBy, others } = all;
    const { labels: _none, ...whole } = all.rows[0] ?? NO_EVENTS;
    const shown = rows.slice(0, SHOWN_ROWS);
    const numbers = (head: string, rank: number, of: (row: GroupRow) => number): Column => ({
      ...{ head, rank, isRight: true },
      cells: shown.map((row) => exact(of(row))),
    });
    const window = { from, to, degraded, ...(degradedBy && { degradedBy }) };
    return {
      facts: [
        ["groups", exact(rows.length)],
        ...windowFacts({ ...whole, ...window }, spanMs, percentiles),
        ...(others > 0 ? ([["as _other", exact(others)]] as const) : []),
      ],
      ...(shown.length > 0 && {
        table: [
          ...group.labels.map((head) => ({
            head,
            cells: shown.map(({ labels }) => labels[head]!),
            rank: 0,
            minWidth: 8,
          })),
          numbers("count", 0, ({ count }) => count),
          numbers("mean", 2, ({ mean }) => mean),
          ...percentiles.map((p) => numbers(`p${p}`, 1, (row) => row.percentiles[p] ?? Number.NaN)),
          numbers("max", 3, ({ max }) => max),
        ],
      }),
      json: { ...whole, rate: (whole.count * 1000) / spanMs, spanMs, ...window, others, rows },
    };
  },
  async Limiter(scope, structure, { spanMs }) {
    const { policies } = structure.settings;
    const listed = Array.isArray(policies) ? policies.map((each) => Object(each) as Record<string, unknown>) : [];
    const history = await outcomeHistory(scope, "Limiter", structure, new URLSearchParams({ span: `${spanMs}` }));
    const { outcomes } = history.body;
    const sumOf = (of: string) => outcomes.reduce((sum, { outcome, total }) => sum + (outcome === of ? total : 0), 0);
    const counts = { allowed: sumOf("allowed"), denied: sumOf("denied"), shadow: sumOf("shadow") };
    return {
      facts: [
        ...(listed.length > 0 ? [] : [["policies", settingsText({ policies: policies ?? "unknown" })] as const]),
        ...(outcomes.length === 0 ? [] : Object.entries(counts)).map(
          ([name, count]) => [name, `${exact(count)} in ${asTyped(spanMs)}`] as const,
        ),
      ],
      ...(listed.length > 0 && { table: policyColumns(listed) }),
      json: { policies: policies ?? null, ...(outcomes.length > 0 && { ...counts, spanMs }) },
    };
  },
  async DelayQueue(scope, structure) {
    const { isPaused, lagMs, ...counts } = await queueState(scope, structure);
    return {
      facts: [
        ...Object.entries(counts).map(([name, count]) => [name, `${count}`] as const),
        ["lag", lagMs === 0 ? "none" : age(lagMs)],
        ...(isPaused ? [["paused", "yes"] as const] : []),
      ],
      json: { ...counts, isPaused, lagMs },
    };
  },
  async Breaker(scope, structure) {
    const reply = await readCircuit(scope, structure);
    const { state, calls, failures, slow, waitMs: retryAfterMs, callers: processes, seeing: failing } = reply;
    const forcedMs = forcedMsOfReply(reply);
    const facts = { state, calls, failures, slow, processes, failing };
    return {
      facts: [
        ...Object.entries(facts).map(([name, value]) => [name, `${value}`] as const),
        ...(state === "closed" ? [] : [["retry after", age(retryAfterMs)] as const]),
        ...(forcedMs === 0 ? [] : [["forced for", age(forcedMs)] as const]),
      ],
      json: { ...facts, retryAfterMs, forcedMs },
    };
  },
  async Counters(scope, structure) {
    const counters = countersOf(scope, structure);
    const rows = await counters.read({ bigint: true });
    const total = rows.reduce((sum, { count }) => sum + count, 0n);
    const lastMs = rows.reduce((last, { startMs }) => Math.max(last, startMs), Number.NEGATIVE_INFINITY);
    const latest = rows.filter(({ startMs }) => startMs === lastMs);
    const largest = latest.sort((a, b) => (a.count > b.count ? -1 : a.count < b.count ? 1 : 0)).slice(0, SHOWN_ROWS);
    const { dimensions, buckets } = counters.shape;
    const bucket = buckets[0]!;
    const cellsOf = (name: string) => largest.map(({ values }) => values[name]!);
    return {
      facts: [
        ["events in Redis", `${total}`],
        ["rows in Redis", `${rows.length}`],
        [`latest ${bucket}`, rows.length === 0 ? "-" : instant(lastMs)],
      ],
      ...(largest.length > 0 && {
        table: [
          ...dimensions.map((head) => ({ head, cells: cellsOf(head), rank: 0, minWidth: 8 })),
          { head: "count", cells: largest.map(({ count }) => `${count}`), rank: 0, isRight: true },
        ],
      }),
      json: { events: `${total}`, rows: rows.length, bucket, startMs: rows.length === 0 ? null : lastMs, largest },
    };
  },
  async FleetMetrics(scope, structure) {
    const { intervalMs, names } = await fleetNames(scope, structure, Number.POSITIVE_INFINITY);
    const columns = ["allowed", "denied", "success", "failure"] as const;
    return {
      facts: [["interval", asTyped(intervalMs)]],
      table: [
        { head: "name", cells: names.map(({ name }) => name || "(all others)"), rank: 0, minWidth: 12 },
        ...columns.map((head, rank) => ({ head, cells: names.map((each) => exact(each[head])), rank, isRight: true })),
        {
          head: "mean ms",
          cells: names.map((each) => exact(each.meanLatencyMs ?? Number.NaN)),
          rank: 4,
          isRight: true,
        },
      ],
      json: { intervalMs, names },
    };
  },
  async Lock(scope, { name }) {
    const state = await lockState(scope, name);
    const { isHeld, fence, leftMs, waitingProcesses } = state;
    return {
      facts: [
        ["state", isHeld ? "held" : "free"],
        ...(isHeld
          ? ([
              ["fence", `${fence}`],
              ["lease left", age(leftMs)],
            ] as const)
          : []),
        ["waiting", `${waitingProcesses}`],
      ],
      json: { ...state },
    };
  },
};

/** The numbers of a window, for people. */
function windowFacts(stats: WindowOf, spanMs: number, percentiles: readonly number[]): Reading["facts"] {
  const { count, sum, mean, min, max, std, degraded, degradedBy = "" } = stats;
  return [
    ["count", `${exact(count)} in ${asTyped(spanMs)}`],
    ["rate", `${exact((count * 1000) / spanMs)}/s`],
    ...Object.entries({ sum, mean, min, max, std }).map(([name, value]) => [name, exact(value)] as const),
    ...percentiles.map((p) => [`p${p}`, exact(stats.percentiles[p] ?? Number.NaN)] as const),
    ...(degraded ? ([["incomplete", degradedBy]] as const) : []),
  ];
}

type WindowOf = Pick<GroupRow, "count" | "sum" | "mean" | "min" | "max" | "std" | "percentiles"> &
  Pick<GroupRows, "degraded" | "degradedBy">;

/** A kind without live numbers shows its settings. */
export async function readingOf(
  scope: Scope,
  structure: Identified & { kind: StructureKind },
  options: ReadOptions,
): Promise<Reading> {
  const read = READS[structure.kind];
  if (read) return read(scope, structure, options);
  const { settings } = structure;
  return { facts: [["settings", settingsText(settings)]], json: { settings } };
}

function policyColumns(policies: readonly Record<string, unknown>[]): Column[] {
  const cells = (of: (policy: Record<string, unknown>) => unknown) => policies.map((each) => `${of(each)}`);
  return [
    { head: "policy", cells: cells(({ name }) => name), rank: 0, minWidth: 12 },
    { head: "kind", cells: cells(({ kindName }) => kindName), rank: 1 },
    { head: "limit", cells: cells(quotaText), rank: 0 },
    { head: "shadow", cells: cells(({ isShadow }) => (isShadow === true ? "yes" : "no")), rank: 2 },
  ];
}

/** What `oriel stats` prints: a head, the numbers, and a table if the kind has one. Each line fits into `width`. */
export function readingLines(
  { kind, name, settings: listed }: Pick<Found, "kind" | "name" | "settings">,
  { facts, table }: Reading,
  width: number | undefined,
  colors: Colors,
): string[] {
  const fitted = (text: string) =>
    width === undefined ? safeText(text, Number.POSITIVE_INFINITY) : cut(text, Math.max(width, 20));
  const settings = settingsText(listed);
  const nameWidth = Math.max(0, ...facts.map(([fact]) => fact.length));
  const [head = "", ...rows] = table ? tableLines(table, width) : [];
  return [
    colors.bold(fitted(`${kind} ${name}`)),
    ...(settings === "" ? [] : [colors.dim(fitted(settings))]),
    ...facts.map(([fact, value]) => fitted(`  ${fact.padEnd(nameWidth)}  ${value}`)),
    ...(table ? ["", colors.bold(head), ...rows] : []),
  ];
}

/** The same on one line, for a pipe: "count 12 · rate 0.2/s". */
export function readingText({ facts }: Reading): string {
  return safeText(facts.map(([fact, value]) => `${fact} ${value}`).join(" · "), 1000);
}
