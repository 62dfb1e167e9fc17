import type { Colors } from "picocolors/types";
import { settingsText } from "../../operate/kinds/settings-text.ts";
import { safeText } from "../text/safe-text.ts";
import { cut, tableLines } from "./columns.ts";
import type { Found } from "./find.ts";
import type { Reading } from "./readings.ts";

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
