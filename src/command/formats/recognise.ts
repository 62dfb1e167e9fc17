import { OrielError } from "../../base/errors.ts";
import { AccessLogParser, isAccessLogLine } from "./access-log.ts";
import { CsvParser } from "./csv.ts";
import type { Line } from "./lines.ts";
import { NdjsonParser } from "./ndjson.ts";
import { quoted } from "./outcome.ts";
import type { BadLine, LineParser, Outcome, Selection } from "./reading.ts";
import { otherDays } from "./times.ts";

export const FORMATS = ["csv", "ndjson", "log"] as const;
export type Format = (typeof FORMATS)[number];

const FORM_NAMES: Record<Format, string> = { csv: "CSV", ndjson: "NDJSON", log: "an access log" };

/** The first lines of a file, by which its form is recognised. */
export const SURVEY_LINES = 1000;
/** A form is certain if this share of the lines follows it. */
const CERTAIN_SHARE = 0.99;

/** The form of at least half of these lines: JSON objects, log lines, or else CSV. */
export function recogniseFormat(lines: readonly string[]): Format {
  const areMost = (isOne: (line: string) => boolean) =>
    lines.length > 0 && lines.filter(isOne).length * 2 >= lines.length;
  if (areMost(isAccessLogLine)) return "log";
  return areMost(isJsonObject) ? "ndjson" : "csv";
}

/**
 * The parser of a file that begins with these lines, or consists of them. Throws ARGUMENT with the first line that is
 * wrong unless 99 % of the lines follow the form, or any if the form was asked for. Lines without a value follow it, if
 * others have one. Throws it also if all times may be days that were counted since another year than 1970.
 */
export function parserFor(
  asked: Format | undefined,
  selection: Selection,
  lines: readonly Line[],
  isWhole: boolean,
): LineParser {
  const texts = lines.flatMap(({ text }) => (text === null || text.trim() === "" ? [] : [text]));
  const format = asked ?? recogniseFormat(texts);
  const outcomes: Outcome[] = [];
  const judge = (outcome: Outcome) => void outcomes.push(outcome);
  const survey = parserOf(format, selection, texts);
  for (const { number, text, fault = "" } of lines)
    if (text === null) judge({ lineNumber: number, reason: fault });
    else survey.push(number, text, judge);
  if (isWhole) survey.finish(judge);
  const hasReading = outcomes.some((outcome) => "value" in outcome);
  const isWrong = (outcome: Outcome) => "reason" in outcome && !(hasReading && outcome.isWithoutValue);
  const wrong = outcomes.filter((outcome): outcome is BadLine => isWrong(outcome));
  const followCount = outcomes.length - wrong.length;
  const isCertain = asked === undefined ? followCount >= CERTAIN_SHARE * outcomes.length : followCount > 0;
  if (!isCertain && wrong[0]) {
    const skip = followCount > wrong.length ? `, or use --format ${format} to skip such lines` : "";
    throw uncertain(format, lines, wrong, skip);
  }
  const readings = outcomes.flatMap((outcome) => ("atMs" in outcome ? [outcome] : []));
  const others = otherDays(readings.map(({ atMs }) => atMs));
  if (others !== undefined) {
    const reason = `its time may be ${others} or seconds since 1970; ISO 8601 is certain`;
    throw uncertain(
      format,
      lines,
      readings.map(({ lineNumber }) => ({ lineNumber, reason })),
      "",
    );
  }
  return parserOf(format, selection, texts);
}

function uncertain(format: Format, lines: readonly Line[], wrong: readonly BadLine[], skip: string): Error {
  const { lineNumber, reason } = wrong[0]!;
  const text = lines.find(({ number }) => number === lineNumber)?.text;
  const line = `line ${lineNumber}${text ? `, ${quoted(text, 80)},` : ""}`;
  const share = `${wrong.length} of the first ${lines.length} ${lines.length === 1 ? "line" : "lines"}`;
  return new OrielError(
    "ARGUMENT",
    `the form of the input is not certain: as ${FORM_NAMES[format]}, ${line} cannot be read, because ${reason} (${share}); it must be CSV, NDJSON (one JSON object a line) or a common or combined access log: convert it first${skip}`,
  );
}

/** `firstLines` are those by whose content columns and fields are guessed. The parser does not read them as events. */
function parserOf(format: Format, selection: Selection, firstLines: readonly string[]): LineParser {
  if (format === "csv") return new CsvParser(selection, firstLines);
  return format === "log" ? new AccessLogParser(selection) : new NdjsonParser(selection, firstLines);
}

function isJsonObject(line: string): boolean {
  if (!line.trimStart().startsWith("{")) return false;
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}
