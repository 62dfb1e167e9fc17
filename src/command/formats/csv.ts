import { type CsvError, parse } from "csv-parse/sync";
import { argumentError, OrielError } from "../../base/errors.ts";
import { type Guess, guessTime, guessValue, TIME_NAMES, VALUE_NAMES } from "./guess.ts";
import { outcomeOf } from "./outcome.ts";
import type { Choice, LineParser, Outcome, Selection } from "./reading.ts";
import { parseTimeMs } from "./times.ts";

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
  readonly choice: Choice;
}

/**
 * CSV with `,`, `;` or tab (the most frequent one of the first record), quotes, and records over several lines.
 * The first record is a header if it has a column that was requested by name, or has neither a number nor a time.
 * A record like the header is skipped: joined files have one each. All records are as wide as the first.
 * A column is a name or a number from 1. The time and the value are guessed by their names and by what the first lines
 * hold (guess.ts). A column of a header that was not found by its name is reported as a guess.
 */
export class CsvParser implements LineParser {
  #delimiter = "";
  /** Empty without a header. Undefined before the first record. */
  #header: string[] | undefined;
  #headerLineNumber = 0;
  #columns: Columns | undefined;
  #width: number | undefined;
  #pending: Pending[] = [];
  #pendingCharacters = 0;
  readonly #selection: Selection;
  readonly #firstLines: readonly string[];

  constructor(selection: Selection, firstLines: readonly string[] = []) {
    this.#selection = selection;
    this.#firstLines = firstLines;
  }

  get choice(): Choice {
    const guesses = this.#header?.length ? ["the first line is a header"] : [];
    return this.#columns?.choice ?? { form: "CSV", time: undefined, value: undefined, guesses };
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
    const header = this.#header ?? [];
    if (header.length === 0 || this.#columns !== undefined) return;
    const { time } = this.#selection;
    if (!header.some((name) => name === time || TIME_NAMES.includes(name.toLowerCase())))
      emit({ lineNumber: this.#headerLineNumber, reason: "it holds no time" });
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
      this.#headerLineNumber = lineNumber;
      if (isHeader) {
        askedColumns(this.#header, fields.length, this.#selection); // throws before the first event
        return;
      }
    }
    const header = this.#header;
    if (isSame(header, fields)) return;
    this.#columns ??= columnsOf(header, this.#sample(header.length || fields.length, fields), this.#selection);
    const { time, value, key } = this.#columns;
    this.#width ??= header.length || fields.length;
    // A field too many is empty if each line ends with a delimiter.
    if (fields.length < this.#width || fields.slice(this.#width).some((field) => field.trim() !== "")) {
      const count = `${fields.length} ${fields.length === 1 ? "field" : "fields"}`;
      emit({ lineNumber, reason: `it has ${count}, not ${this.#width}` });
      return;
    }
    emit(outcomeOf(lineNumber, fields[time], fields[value], key === null ? null : fields[key]));
  }

  /** The records of the first lines that have `width` fields, without the header and records over several lines. */
  #sample(width: number, first: string[]): string[][] {
    const records = this.#firstLines.slice(this.#header?.length === 0 ? 0 : 1).flatMap((line) => {
      const fields = line.includes('"') ? fieldsOf(line, this.#delimiter) : line.split(this.#delimiter);
      return typeof fields === "string" || fields.length < width || isSame(this.#header, fields) ? [] : [fields];
    });
    return records.length === 0 ? [first] : records;
  }
}

function isSame(header: readonly string[] = [], fields: readonly string[]): boolean {
  return header.length > 0 && fields.length === header.length && fields.every((one, i) => one.trim() === header[i]);
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
    const index = header.indexOf(wanted);
    if (index >= 0 && header.indexOf(wanted, index + 1) < 0) return index;
    if (/^\d+$/.test(wanted) && Number(wanted) >= 1 && Number(wanted) <= width) return Number(wanted) - 1;
    const once = index < 0 ? "" : "a column that stands there once, ";
    const known = header.length > 0 ? `${once}one of the columns ${header.join(", ").slice(0, 200)}, or ` : "";
    throw argumentError(option, wanted, `${known}a column number from 1 to ${width}`);
  };
  return {
    key: asked("--key", selection.key),
    time: asked("--time", selection.time),
    value: asked("--value", selection.value),
  };
}

/** Throws ARGUMENT if the records do not show which columns hold the times and the values. */
function columnsOf(header: readonly string[], records: readonly string[][], selection: Selection): Columns {
  const width = header.length || (records[0] as string[]).length;
  const names = Array.from({ length: width }, (_, index) => header[index] || `${index + 1}`);
  const columns = names.map((name, index) => ({ name, texts: records.map((record) => record[index] ?? "") }));
  const asked = askedColumns(header, width, selection);
  const key = asked.key ?? null;
  const timeGuess = asked.time === undefined ? guessedTime(columns) : undefined;
  const time = asked.time ?? columns.findIndex(({ name }) => name === timeGuess?.name);
  const guesses = timeGuess?.reason === undefined || header.length === 0 ? [] : [timeGuess.reason];
  const withName = (value: number, valueGuess?: string): Columns => {
    const isNamed = header[value] || asked.value !== undefined || valueGuess !== undefined;
    const choice = { form: "CSV", time: names[time], value: isNamed ? names[value]! : "value", valueGuess, guesses };
    return { time, value, key, choice };
  };
  if (asked.value !== undefined || time < 0) return withName(asked.value ?? 0);

  const isFree = (name: string, index: number) =>
    index !== time && index !== key && !TIME_NAMES.includes(name.toLowerCase());
  const free = columns.filter(({ name }, index) => isFree(name, index));
  const guess = guessValue(free, "column");
  if (guess !== undefined && free.length > 1) return withName(names.indexOf(guess.name), guess.reason);
  const known = free.find(({ name }) => VALUE_NAMES.includes(name.toLowerCase()));
  const first = names.indexOf((known ?? free[0])?.name ?? names[time]!);
  const reason = `value ${names[first]}, the ${free.length === 1 ? "only other" : "first other"} column`;
  return withName(first, known === undefined && header[first] ? reason : undefined);
}

const DATE = /^\d{4}[-/]\d\d[-/]\d\d$/;
const TIME_OF_DAY = /^\d\d?:\d\d(?::\d\d(?:[.,]\d+)?)?$/;

/** Undefined if no column holds times. */
function guessedTime(columns: readonly { name: string; texts: string[] }[]): Guess | undefined {
  const guess = guessTime(columns, "column");
  const time = columns.find(({ name }) => name === guess?.name);
  const every = (texts: readonly string[], form: RegExp) => texts.every((text) => form.test(text.trim()));
  const day = time && every(time.texts, DATE) && columns.find(({ texts }) => every(texts, TIME_OF_DAY));
  if (day)
    throw new OrielError(
      "ARGUMENT",
      `the columns ${time.name} and ${day.name} hold dates and times of day; join them into one column`,
    );
  return guess;
}
