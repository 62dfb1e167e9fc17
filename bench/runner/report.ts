/** One measured line: what it is and its numbers; the columns of a table are the keys of its rows. */
export type Row = Record<string, string | number>;

export interface Report {
  /** Name of the bench, as in --only. */
  bench: string;
  title: string;
  rows: Row[];
  /** Explains the numbers, and names what was skipped and why. */
  notes: string[];
}

/** Names and values of a machine or of packages. */
export type Facts = Readonly<Record<string, string | number>>;

/** A whole run: its reports, and what their numbers depend on. */
export interface Measured {
  /** The command that repeats the run. */
  command: string;
  facts: Facts;
  /** Versions of the rivals by package. */
  rivals: Facts;
  reports: Report[];
}

/** One JSON object a line: each row with its bench, then the notes. */
export function jsonLines(report: Report): string {
  const rows = report.rows.map((row) => JSON.stringify({ bench: report.bench, ...row }));
  const notes = report.notes.map((note) => JSON.stringify({ bench: report.bench, note }));
  return [...rows, ...notes].join("\n");
}

/** A Markdown table that is readable as it is; numbers are rounded to three digits and aligned to the right. */
export function table(report: Report): string {
  const head = Object.keys(report.rows[0] ?? {}).filter((name) => name !== "checksum");
  const numeric = head.map((name) => report.rows.some((row) => typeof row[name] === "number"));
  const cells = report.rows.map((row) => head.map((name) => show(row[name])));
  const widths = head.map((name, i) => Math.max(3, name.length, ...cells.map((line) => line[i]?.length ?? 0)));
  const line = (texts: string[]) => `| ${texts.map((text, i) => pad(text, widths[i] ?? 0, numeric[i])).join(" | ")} |`;
  const rule = `|${widths.map((width, i) => "-".repeat(width + 1) + (numeric[i] ? ":" : "-")).join("|")}|`;
  const notes = report.notes.map((note) => `- ${note}`);
  return [`## ${report.title}`, "", line(head), rule, ...cells.map(line), "", ...notes, ""].join("\n");
}

function pad(text: string, width: number, right = false): string {
  return right ? text.padStart(width) : text.padEnd(width);
}

/** A number with three digits, or the text. */
export function show(value: string | number | undefined): string {
  if (typeof value !== "number") return value ?? "";
  if (!Number.isFinite(value)) return "-";
  if (Number.isInteger(value) || Math.abs(value) >= 100) return Math.round(value).toLocaleString("en-US");
  return String(Number(value.toPrecision(3)));
}
