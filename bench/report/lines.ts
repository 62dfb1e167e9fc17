import type { Facts, Measured, Report, Row } from "../runner/report.ts";

const DIGITS = 4;

/** A run as JSON lines: the command, the machine and the versions, then each row with its bench, then the notes. */
export function runLines({ command, facts, rivals, reports }: Measured): string {
  const lines = reports.flatMap(({ bench, title, rows, notes }) => [
    { bench, title },
    ...rows.map(({ checksum: _, ...row }) => ({ bench, ...row })),
    ...notes.map((note) => ({ bench, note })),
  ]);
  return [{ command, facts, rivals }, ...lines].map((line) => `${JSON.stringify(line, rounded)}\n`).join("");
}

function rounded(_key: string, value: unknown): unknown {
  if (typeof value !== "number" || Number.isInteger(value)) return value;
  return Number.isFinite(value) ? Number(value.toPrecision(DIGITS)) : undefined;
}

/** Reads what `runLines` has written. */
export function runOf(text: string): Measured {
  const [first, ...lines] = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const reports: Report[] = [];
  for (const { bench, title, note, ...row } of lines as ({ bench: string; title?: string; note?: string } & Row)[]) {
    if (title !== undefined) reports.push({ bench, title, rows: [], notes: [] });
    else if (note !== undefined && Object.keys(row).length === 0) reports.at(-1)!.notes.push(note);
    else reports.at(-1)!.rows.push(note === undefined ? row : { note, ...row });
  }
  const { command, facts, rivals } = first as { command: string; facts: Facts; rivals: Facts };
  return { command, facts, rivals, reports };
}
