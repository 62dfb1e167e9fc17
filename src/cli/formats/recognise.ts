import { AccessLogParser, isAccessLogLine } from "./access-log.ts";
import { CsvParser } from "./csv.ts";
import { NdjsonParser } from "./ndjson.ts";
import type { LineParser, Selection } from "./reading.ts";

export const FORMATS = ["csv", "ndjson", "log"] as const;
export type Format = (typeof FORMATS)[number];

/** Maximum lines that are examined before a format is chosen. */
export const RECOGNISED_LINES = 10;
/** Maximum lines of the first chunk by whose values a column or field is guessed. Live input is not delayed for more. */
export const GUESS_LINES = 100;

/** The format of the first of these lines that is clearly a JSON object or a log line; otherwise CSV. */
export function recogniseFormat(lines: readonly string[]): Format {
  for (const line of lines) {
    if (isAccessLogLine(line)) return "log";
    if (isJsonObject(line)) return "ndjson";
  }
  return "csv";
}

/** `firstLines` are those by whose types a value is guessed. The parser does not read them as events. */
export function parserOf(format: Format, selection: Selection, firstLines: readonly string[]): LineParser {
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
