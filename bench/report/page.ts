import { type Measured, type Row, show } from "../runner/report.ts";
import { SCALE_TABLES, scaleTable } from "../scale/tables.ts";
import { bars } from "./bars.ts";
import { curve } from "./curves.ts";
import { firstNumbers } from "./first-numbers.ts";
import { VIEWS, type View } from "./views.ts";

/** A part of a page that is written from a run: `<!-- bench NAME -->`, its text, `<!-- end -->`. */
export const BLOCK = /(<!-- bench ([\w-]+) -->\n)([\s\S]*?)(<!-- end -->)/g;

/** Names of rivals that the pages explain. */
const NAMES: Readonly<Record<string, string>> = {
  "V1 sorted set": "sorted set",
  "V1 pipelined": "sorted set, pipelined",
  "V2 mutex + sorted set": "sorted set, mutex",
  "V3 mutex + NumPy subprocess": "NumPy, mutex",
};

/** The page with its blocks written from the run. A block whose bench the run lacks stays. */
export function filled(page: string, run: Measured): string {
  return page.replace(BLOCK, (block, begin: string, name: string, _text, end: string) => {
    const text = blockText(name, run);
    return text === undefined ? block : `${begin}\n${text}\n\n${end}`;
  });
}

function blockText(name: string, run: Measured): string | undefined {
  if (name === "machine") return machineText(run);
  if (name === "first-numbers") return firstNumbers(run);
  if (name in SCALE_TABLES) {
    const cells = scaleTable(name, run);
    return cells && markdownTable(cells);
  }
  const view = VIEWS[name];
  if (!view) throw new Error(`no view is called ${name}; they are ${Object.keys(VIEWS).join(", ")}`);
  const rows = rowsOf(view, run);
  return rows.length === 0 ? undefined : markdownTable(cellsOf(view, rows));
}

function machineText({ facts, rivals }: Measured): string {
  const { cpu, cores, kernel: _, ...versions } = facts;
  const list = (each: Measured["facts"]) =>
    Object.entries(each)
      .map(([name, version]) => `${name} ${version}`)
      .join(", ");
  return [
    "| part | in this run |",
    "|---|---|",
    `| machine | ${cpu}, ${cores} cores |`,
    `| versions | ${list(versions)} |`,
    `| rivals | ${list(rivals)} |`,
  ].join("\n");
}

function rowsOf({ bench, kept = () => true }: View, { reports }: Measured): Row[] {
  return reports.filter((report) => report.bench === bench).flatMap(({ rows }) => rows.filter(kept));
}

function textOf(value: string | number | undefined | null): string {
  return typeof value === "number" ? show(value) : (NAMES[value ?? ""] ?? value ?? "");
}

/** The heading, then a line for each row, or for all rows that differ in `across` alone. */
function cellsOf(view: View, rows: readonly Row[]): string[][] {
  const { across, rows: labels, values } = view;
  const names = Object.keys(labels);
  if (across === undefined)
    return [
      [...Object.values(labels), ...Object.values(values)],
      ...rows.map((row) => [...names, ...Object.keys(values)].map((name) => textOf(row[name]))),
    ];
  const columns = ownFirst([...new Set(rows.map((row) => textOf(row[across])))]);
  const [value] = Object.keys(values) as [string];
  const lines = new Map<string, string[]>();
  for (const row of rows) {
    const cells = names.map((name) => textOf(row[name]));
    const line = lines.get(cells.join("\n")) ?? [...cells, ...columns.map(() => "")];
    line[names.length + columns.indexOf(textOf(row[across]))] = textOf(row[value]);
    lines.set(cells.join("\n"), line);
  }
  return [[...Object.values(labels), ...columns], ...lines.values()];
}

/** A narrow window shows the first columns of a table. */
function ownFirst(names: readonly string[]): string[] {
  const own = names.filter((name) => name.startsWith("oriel")).sort();
  return [...own, ...names.filter((name) => !own.includes(name))];
}

function markdownTable([head = [], ...lines]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${"---|".repeat(head.length)}`, ...lines.map(line)].join("\n");
}

const isNumber = (value: unknown) => typeof value === "number";

/** The plot of a block's first numbers. Empty if the run lacks the bench, or the view has no plot. */
export function plot(name: string, run: Measured): string {
  const view = VIEWS[name];
  if (!view) return "";
  if (view.curves) {
    const { along, all } = view.curves;
    const rows = rowsOf({ ...view, kept: (row) => isNumber(row[along]) }, run);
    return rows.length === 0 ? "" : all.map((each) => curve(each, along, rows)).join("\n");
  }
  const { title, rows: labels, across, values, plotted = () => true } = view;
  const rows = rowsOf(view, run).filter(plotted);
  const named = [...(across === undefined ? [] : [across]), ...Object.keys(labels)];
  // Columns that are the same in all bars say nothing.
  const differing = named.filter((column) => rows.some((row) => row[column] !== rows[0]![column]));
  const [value] = Object.keys(values) as [string];
  return bars(
    title,
    rows.map((row) => {
      const parts = differing.map((column) => `${textOf(row[column])} ${isNumber(row[column]) ? labels[column] : ""}`);
      return { label: parts.map((part) => part.trim()).join(" · "), value: row[value] };
    }),
  );
}
