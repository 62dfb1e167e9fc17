import type { Colors } from "picocolors/types";
import type { Check, Verdict } from "../../operate/doctor/check.ts";
import type { Report } from "../../operate/doctor/examine.ts";
import { safeText, wrapped } from "../text/safe-text.ts";

const VERDICT_WIDTH = 10;
const NAME_WIDTH = 13;
/** A narrower terminal shows texts below their names. */
const BESIDE_COLUMNS = 72;
const MIN_COLUMNS = 20;
/** Stands before an advice. */
const ADVICE = " -> ";

const SUMMARY: Partial<Record<Verdict, string>> = {
  good: "good: oriel works here without a loss",
  degraded: "degraded: oriel works here, with the losses above",
  unusable: "unusable: oriel does not work here until this is changed",
};

/** One line for each check, with the advice after an arrow. In a terminal of `columns`, a long line continues below its beginning. */
export function reportText(report: Report, columns: number | undefined, colors: Colors): string {
  const width = columns === undefined ? undefined : Math.max(columns, MIN_COLUMNS);
  const lines = report.checks.flatMap((check) => linesOf(check, width, colors));
  const whole = (text: string) => (width === undefined ? [text] : wrapped(text, width));
  const summary = whole(summaryOf(report)).map(paint(report.verdict, colors));
  return [...whole(headOf(report)), ...lines, ...summary].map((line) => `${line}\n`).join("");
}

/** The last line. It names the checks that could not be made, since a loss may be there. */
function summaryOf({ verdict, checks }: Report): string {
  const unknown = checks.flatMap((check) => (check.verdict === "unknown" ? check.name : []));
  if (verdict !== "degraded" || unknown.length === 0) return SUMMARY[verdict] ?? verdict;
  const count = unknown.length === 1 ? "1 check" : `${unknown.length} checks`;
  const unmade = `${count} could not be made (${unknown.join(", ")})`;
  const hasLoss = checks.some((check) => check.verdict === "degraded");
  return hasLoss ? `${SUMMARY.degraded}; ${unmade}` : `degraded: ${unmade}`;
}

function headOf({ server, address }: Report): string {
  const name = server ? `${server.product} ${server.version}` : "the server";
  return safeText(address === undefined ? name : `${name} at ${address}`, 200);
}

function linesOf({ verdict, name, text, advice }: Check, columns: number | undefined, colors: Colors): string[] {
  const label = paint(verdict, colors)(verdict.padEnd(VERDICT_WIDTH));
  const texts = [text, advice].flatMap((each) => (each === undefined ? [] : safeText(each, Number.POSITIVE_INFINITY)));
  if (columns === undefined) return [`${label}${name.padEnd(NAME_WIDTH)}${texts.join(ADVICE)}`];
  const isBeside = columns >= BESIDE_COLUMNS;
  const indent = isBeside ? VERDICT_WIDTH + NAME_WIDTH : 2;
  const [first = "", ...rest] = texts.flatMap((each, i) =>
    wrapped(i === 0 ? each : ADVICE.trimStart() + each, columns - indent),
  );
  const below = (line: string) => " ".repeat(indent) + line;
  if (isBeside) return [`${label}${name.padEnd(NAME_WIDTH)}${first}`, ...rest.map(below)];
  return [`${label}${name}`, ...[first, ...rest].map(below)];
}

function paint(verdict: Verdict, colors: Colors): (text: string) => string {
  if (verdict === "good") return colors.green;
  if (verdict === "unusable") return colors.red;
  return verdict === "degraded" ? colors.yellow : colors.dim;
}
