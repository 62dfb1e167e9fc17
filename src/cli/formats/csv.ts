import { type CsvError, parse } from "csv-parse/sync";
import { argumentError } from "../../errors.ts";
import { outcomeOf } from "./outcome.ts";
import type { LineParser, Outcome, Selection, ValueChoice } from "./reading.ts";
import { parseTimeMs } from "./times.ts";
import { guessValue, VALUE_NAMES } from "./value-guess.ts";

const TIME_NAMES = ["timestamp", "time", "datetime", "date", "ts", "at", "@timestamp"];
/** A quote still open after this many lines or characters makes one bad line, so the rest of the file is still read. */
const MAX_RECORD_LINES = 100;
const MAX_RECORD_CHARACTERS = 1 << 20;

interface Pending {
  readonly lineNumber: number;
  readonly text: string;
  readonly hasOddQuotes: boolean;
}
interface Columns {
  readonly time: number;
  readonly value: number;
  readonly key: number | null;
  readonly choice: ValueChoice;
}

/**
 * CSV with `,`, `;` or tab (the most frequent one of the first record), quotes, and records over several lines.
 * The first record is a header if it has a column that was requested by name, or has neither a number nor a time.
 * A column is a name or a number from 1. By default the time is the column named timestamp, time, ... or the first one.
 * The value is guessed by the types of the first lines (value-guess.ts); where no column holds numbers, it is the column
 * named value, latency, ... or the first that is neither time nor key. A column of a header that was not found by its
 * name is reported as a guess.
 */
export class CsvParser implements LineParser {
  #delimiter = "";
  /** Empty without a header. Undefined before the first record. */
  #header: string[] | undefined;
  #columns: Columns | undefined;
  #pending: Pending[] = [];
  #pendingCharacters = 0;
  readonly #selection: Selection;
  readonly #firstLines: readonly string[];

  constructor(selection: Selection, firstLines: readonly string[] = []) {
    this.#selection = selection;
    this.#firstLines = firstLines;
  }

  get value(): ValueChoice {
    const others = this.#header?.length ? ["the first line is a header"] : [];
    return this.#columns?.choice ?? { name: "value", guess: undefined, others };
  }

  push(lineNumber: number, text: string, emit: (outcome: Outcome) => void): void {
    if (this.#delimiter === "") this.#delimiter = delimiterOf(text);
    if (this.#pending.length === 0 && !text.includes('"')) {
      if (text.trim() !== "") this.#record(lineNumber, text.split(this.#delimiter), emit);
      return;
    }
    this.#pending.push({ lineNumber, text, hasOddQuotes: (text.split('"').length - 1) % 2 === 1 });
    this.#pendingCharacters += text.length;
    const isTooLong = this.#pending.length >= MAX_RECORD_LINES || this.#pendingCharacters >= MAX_RECORD_CHARACTERS;
    this.#drain(emit, isTooLong);
  }

  finish(emit: (outcome: Outcome) => void): void {
    this.#drain(emit, true);
  }

  /**
   * Takes records from the pending lines. A record ends at the first line with an even number of quotes so far, and is
   * parsed only there, so that an open quote costs one check a line. The first line is bad if it begins no record, or
   * if `isLast` and no line ends its record.
   */
  #drain(emit: (outcome: Outcome) => void, isLast: boolean): void {
    while (this.#pending.length > 0) {
      const { lineNumber, text } = this.#pending[0] as Pending;
      if (text.trim() === "") {
        this.#take(1);
        continue;
      }
      const count = this.#linesOfFirstRecord();
      const lines = this.#pending.slice(0, count ?? 1).map((line) => line.text);
      const fields = fieldsOf(lines.join("\n"), this.#delimiter);
      const isOpen = fields === "CSV_QUOTE_NOT_CLOSED";
      if (typeof fields !== "string") {
        this.#take(lines.length);
        this.#record(lineNumber, fields, emit);
      } else if (isOpen && count === undefined && !isLast) return;
      else {
        this.#take(1);
        emit({ lineNumber, reason: isOpen ? "a quote is not closed" : "a quote is misplaced" });
      }
    }
  }

  /** Undefined if the pending lines together have an odd number of quotes. */
  #linesOfFirstRecord(): number | undefined {
    let isOpen = false;
    for (const [index, { hasOddQuotes }] of this.#pending.entries()) {
      isOpen = isOpen !== hasOddQuotes;
      if (!isOpen) return index + 1;
    }
    return undefined;
  }

  #take(count: number): void {
    for (const { text } of this.#pending.splice(0, count)) this.#pendingCharacters -= text.length;
  }

  #record(lineNumber: number, fields: string[], emit: (outcome: Outcome) => void): void {
    if (this.#header === undefined) {
      const isHeader = looksLikeHeader(fields, this.#selection);
      this.#header = isHeader ? fields.map((field) => field.trim()) : [];
      if (isHeader) {
        askedColumns(this.#header, fields.length, this.#selection); // throws before the first event
        return;
      }
    }
    this.#columns ??= columnsOf(this.#header, [fields, ...this.#sample()], this.#selection);
    const { time, value, key } = this.#columns;
    emit(outcomeOf(lineNumber, fields[time], fields[value], key === null ? null : fields[key]));
  }

  /** The fields of the first lines, without a header and without records over several lines. */
  #sample(): string[][] {
    const lines = this.#firstLines.slice(this.#header?.length === 0 ? 0 : 1);
    return lines.flatMap((line) => {
      const fields = line.includes('"') ? fieldsOf(line, this.#delimiter) : line.split(this.#delimiter);
      return typeof fields === "string" ? [] : [fields];
    });
  }
}

function fieldsOf(text: string, delimiter: string): string[] | string {
  try {
    const records = parse(text, { delimiter, relax_column_count: true }) as string[][];
    return records.length === 1 ? (records[0] as string[]) : "CSV_SEVERAL_RECORDS";
  } catch (error) {
    return (error as CsvError).code ?? "CSV_ERROR";
  }
}

function delimiterOf(text: string): string {
  const counts = [",", ";", "\t"].map((sign) => ({ sign, count: text.split(sign).length }));
  return counts.reduce((best, next) => (next.count > best.count ? next : best)).sign;
}

function looksLikeHeader(fields: string[], { time, value, key }: Selection): boolean {
  const names = fields.map((field) => field.trim());
  if ([time, value, key].some((name) => name !== undefined && !/^\d+$/.test(name) && names.includes(name))) return true;
  return !names.some((name) => name !== "" && (Number.isFinite(Number(name)) || !Number.isNaN(parseTimeMs(name))));
}

/** The columns that were asked for by name or number, from 0. Throws ARGUMENT for others. */
function askedColumns(header: readonly string[], width: number, selection: Selection) {
  const asked = (option: string, wanted: string | undefined): number | undefined => {
    if (wanted === undefined) return undefined;
    if (header.includes(wanted)) return header.indexOf(wanted);
    if (/^\d+$/.test(wanted) && Number(wanted) >= 1 && Number(wanted) <= width) return Number(wanted) - 1;
    const known = header.length > 0 ? `one of the columns ${header.join(", ").slice(0, 200)}, or ` : "";
    throw argumentError(option, wanted, `${known}a column number from 1 to ${width}`);
  };
  return {
    key: asked("--key", selection.key),
    time: asked("--time", selection.time),
    value: asked("--value", selection.value),
  };
}

function columnsOf(header: readonly string[], records: readonly string[][], selection: Selection): Columns {
  const width = header.length || (records[0] as string[]).length;
  const names = Array.from({ length: width }, (_, index) => header[index] || `${index + 1}`);
  const lower = header.map((name) => name.toLowerCase());
  const named = (known: string[]) => known.map((name) => lower.indexOf(name)).find((index) => index >= 0);
  const asked = askedColumns(header, width, selection);
  const key = asked.key ?? null;
  const namedTime = asked.time ?? named(TIME_NAMES);
  const time = namedTime ?? 0;
  const others = namedTime === undefined && header[0] ? [`time ${header[0]}, the first column`] : [];
  const withName = (value: number, guess?: string): Columns => ({
    time,
    value,
    key,
    choice: {
      name: header[value] || (asked.value === undefined && guess === undefined ? "value" : names[value]!),
      guess,
      others,
    },
  });
  if (asked.value !== undefined) return withName(asked.value);

  const free = names.flatMap((name, index) =>
    index === time || index === key || TIME_NAMES.includes(name.toLowerCase()) ? [] : [index],
  );
  const candidates = free.map((index) => ({
    name: names[index] as string,
    texts: records.map((record) => record[index] ?? ""),
  }));
  const guess = guessValue(candidates, "column");
  if (guess !== undefined && free.length > 1) return withName(names.indexOf(guess.name), guess.reason);
  const known = named(VALUE_NAMES);
  const first = known ?? free[0] ?? time;
  const isOnly = free.length === 1;
  const reason = `value ${header[first]}, the ${isOnly ? "only other" : "first other"} column`;
  return withName(first, known === undefined && header[first] ? reason : undefined);
}
