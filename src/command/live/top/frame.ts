import type { Colors } from "picocolors/types";
import stringWidth from "string-width";
import { healthFacts, type Level } from "../../../operate/doctor/health/health-facts.ts";
import type { StoreHealth } from "../../../operate/doctor/health/store-health.ts";
import { age, asTyped, counted, number } from "../../../operate/format.ts";
import { settingsText } from "../../../operate/kinds/settings-text.ts";
import { safeText } from "../../text/safe-text.ts";
import { type Column, cut, tableLines } from "../columns.ts";
import { type Row, TREND_PARTS } from "./rows.ts";
import { indexOfSelected, type TopState } from "./state.ts";

/** Lines above and below the rows: the head, the store, the names of the columns, and the foot. */
const OTHER_LINES = 4;

/** In a narrower terminal the trend would take the place of words about the state. */
const TREND_COLUMNS = 100;

export interface Size {
  columns: number;
  rows: number;
}

export function pageRowsOf({ rows }: Size): number {
  return Math.max(1, rows - OTHER_LINES);
}

/** The rows that are on the screen: a page around the selected one. */
export function pageOf(rows: readonly Row[], state: TopState, size: Size): Row[] {
  const pageRows = pageRowsOf(size);
  const first = Math.floor(indexOfSelected(rows, state) / pageRows) * pageRows;
  return rows.slice(first, first + pageRows);
}

/** The screen of `oriel top`: a head, the store's health, the rows of one page, and the keys. */
export function frameLines(
  rows: readonly Row[],
  state: TopState,
  size: Size,
  about: { nowMs: number; spanMs: number; processes: number; failure: string; health: StoreHealth | undefined },
  colors: Colors,
): string[] {
  const page = pageOf(rows, state, size);
  const selected = indexOfSelected(rows, state);
  const place = `${rows.length === 0 ? 0 : selected + 1}/${rows.length}`;
  const numbers = `last ${asTyped(about.spanMs)} · ${counted(about.processes, "process")} within 1h`;
  const time = new Date(about.nowMs).toISOString().slice(11, 19);
  const filter = state.isTyping || state.filter !== "" ? ` · /${state.filter}${state.isTyping ? "_" : ""}` : "";
  const order = `by ${state.sort}${state.isReversed ? " reversed" : ""}`;
  const head = `oriel top · ${time} · ${place} · ${order}${filter} · ${numbers}`;
  const columns = [
    ...columnsOf(page, about.nowMs, colors),
    ...(size.columns >= TREND_COLUMNS ? [trendOf(page, colors)] : []),
  ];
  const [names = "", ...lines] = tableLines(columns, size.columns - 2);
  const body = lines.map((line, i) => (page[i] === rows[selected] ? `${colors.bold(">")} ${line}` : `  ${line}`));
  if (rows.length === 0)
    body.push(cut(state.filter === "" ? "  Nothing is listed." : "  Nothing matches.", size.columns));
  const blank = Array.from({ length: Math.max(0, pageRowsOf(size) - body.length) }, () => "");
  const keys = state.isTyping
    ? "type a part of a name, Enter keeps it, Esc clears it"
    : "q quit · Enter open · / filter · s sort · r reverse · arrows move";
  const foot =
    about.failure === "" ? colors.dim(cut(keys, size.columns)) : colors.red(cut(about.failure, size.columns));
  const store = about.health ? healthLine(about.health, size.columns, colors) : "";
  return [colors.bold(cut(head, size.columns)), store, `  ${colors.cyan(names)}`, ...body, ...blank, foot];
}

/** Columns of the overview. Numbers that a kind does not have are blank. */
export function columnsOf(rows: readonly Row[], nowMs: number, colors: Colors): Column[] {
  const textOf = (value: number | null | undefined) => (value == null ? "" : number(value));
  const lag = ({ numbers }: Row) => (numbers?.lag == null ? "" : age(numbers.lag));
  // Columns that few kinds have are left out if they are blank.
  const optional = (head: string, cells: string[]): Column[] =>
    cells.some((cell) => cell !== "") ? [{ head, cells, rank: 2, isRight: true }] : [];
  return [
    { head: "name", cells: rows.map(({ structure }) => structure.name), rank: 0, minWidth: 12 },
    { head: "kind", cells: rows.map(({ structure }) => structure.kind), rank: 3, paint: colors.dim },
    { head: "rate/s", cells: rows.map(({ numbers }) => textOf(numbers?.rate)), rank: 1, isRight: true },
    { head: "p99", cells: rows.map(({ numbers }) => textOf(numbers?.p99)), rank: 1, isRight: true },
    ...optional(
      "denied/s",
      rows.map(({ numbers }) => textOf(numbers?.denied)),
    ),
    ...optional("lag", rows.map(lag)),
    {
      head: "state",
      cells: rows.map(({ numbers, structure }) => {
        const conflict = structure.conflict ? "conflict! " : "";
        if (numbers?.error !== undefined) return `${conflict}failed: ${numbers.error}`;
        return conflict + (numbers ? (numbers.state ?? settingsText(structure.settings)) : "");
      }),
      rank: 1.5,
      minWidth: 10,
      paint: (text, row) => {
        const { numbers, structure } = rows[row]!;
        return numbers?.error !== undefined || numbers?.isBad || structure.conflict ? colors.red(text) : text;
      },
    },
    { head: "procs", cells: rows.map(({ structure }) => `${structure.processes}`), rank: 6, isRight: true },
    { head: "seen", cells: rows.map(({ structure }) => age(nowMs - structure.seenMs)), rank: 5, isRight: true },
  ];
}

/** The parts of the span as bars. Each row has a scale of its own. */
function trendOf(rows: readonly Row[], colors: Colors): Column {
  const cells = rows.map(({ numbers }) => sparkText(numbers?.spark ?? []).padStart(TREND_PARTS));
  return { head: "trend", cells, rank: 4, paint: colors.cyan };
}

const BARS = "▁▂▃▄▅▆▇█";

/** Numbers as bars from 0 to the largest one, the latest at the right. */
function sparkText(values: readonly number[]): string {
  const largest = Math.max(0, ...values);
  const barOf = (value: number) => BARS[largest > 0 ? Math.round((value / largest) * (BARS.length - 1)) : 0];
  return values.map(barOf).join("");
}

interface Part {
  text: string;
  level: Level;
}

const GAP = " · ";

/** The health of the store in one line. In a narrow terminal the good facts are left out first, the last ones before the others. */
export function healthLine(health: StoreHealth, width: number, colors: Colors): string {
  let parts = partsOf(health);
  const widthOf = () => stringWidth(parts.map(({ text }) => text).join(GAP));
  while (widthOf() > width) {
    const least = parts.findLastIndex(({ level }, i) => i > 0 && level === "good");
    if (least < 0) break;
    parts = parts.filter((_, i) => i !== least);
  }
  const paint = { good: (text: string) => text, warn: colors.yellow, bad: colors.red };
  if (widthOf() > width) {
    const { level } = parts[0]!;
    return paint[level === "good" ? "warn" : level](cut(parts.map(({ text }) => text).join(GAP), width));
  }
  return parts.map(({ text, level }) => paint[level](text)).join(colors.dim(GAP));
}

function partsOf(health: StoreHealth): Part[] {
  const { state, reason, address, nodes } = health;
  const [reachability, ...others] = healthFacts(health);
  const primaries = nodes.length > 1 ? ` (${nodes.length} primaries)` : "";
  const why = state === "up" ? "" : `: ${reason ?? "no reason known"}`;
  const server = `${safeText(nodes[0]?.server ?? "store", 60)}${primaries} ${state}${why}`;
  return [
    { text: safeText(server, 200), level: reachability!.level },
    ...others.map(({ label, text, level }) => ({ text: safeText(`${label.toLowerCase()} ${text}`, 100), level })),
    { text: safeText(address ?? "the store", 100), level: "good" },
  ];
}
