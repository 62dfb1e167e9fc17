import type { Colors } from "picocolors/types";
import stringWidth from "string-width";
import { exact, instant } from "../../operate/format.ts";
import { cut } from "../live/columns.ts";
import type { Row } from "../row.ts";
import { safeJson, safeText } from "../text/safe-text.ts";

/** Turns rows into lines of output, a row a line. */
interface RowWriter {
  lines(rows: readonly Row[]): string;
}

/**
 * One JSON object a row; numbers in full, NaN as null, the window's end in ISO 8601:
 * {"end","key","count","sum","mean","min","max","std","percentiles":{"99":…},"degraded"}
 */
export class JsonWriter implements RowWriter {
  readonly #percentiles: readonly number[];

  constructor(percentiles: readonly number[]) {
    this.#percentiles = percentiles;
  }

  lines(rows: readonly Row[]): string {
    return rows.map((row) => `${safeJson(this.#line(row))}\n`).join("");
  }

  #line({ endMs, key, percentiles, degraded, ...numbers }: Row): string {
    const { count, sum, mean, min, max, std } = numbers;
    const pairs = this.#percentiles.map((name, index) => `"${name}":${JSON.stringify(percentiles[index])}`).join(",");
    const head = JSON.stringify({ end: instant(endMs), key, count, sum, mean, min, max, std });
    return `${head.slice(0, -1)},"percentiles":{${pairs}},"degraded":${degraded}}`;
  }
}

const MIN_KEY_COLUMNS = 8;
const GAP = 2;
/** Columns that a narrow terminal lacks, the first ones first. */
const DROPPED = ["std", "sum", "min", "mean", "max"];

interface TableColumn {
  readonly name: string;
  readonly place: number;
  readonly isText: boolean;
  width: number;
}

/**
 * Columns for people, in at most `maxWidth` columns of a terminal. Rows are written at once, so a column grows with a wider
 * cell, and never shrinks. Columns that no longer fit are left out, and the names are printed anew then.
 */
export class TableWriter implements RowWriter {
  readonly #colors: Colors;
  readonly #hasKey: boolean;
  readonly #maxWidth: number;
  #columns: TableColumn[];
  #isHeaderDue = true;

  constructor(percentiles: readonly number[], hasKey: boolean, colors: Colors, maxWidth = Number.POSITIVE_INFINITY) {
    this.#colors = colors;
    this.#hasKey = hasKey;
    this.#maxWidth = maxWidth;
    const labels = percentiles.map((percentile) => `p${percentile}`);
    const names = ["window end", ...(hasKey ? ["key"] : []), "count", "sum", "mean", "min", "max", "std", ...labels];
    const least = Number.isFinite(maxWidth) ? 6 : 9;
    this.#columns = names.map((name, place) => {
      const isText = place === 0 || (place === 1 && hasKey);
      const width = place === 0 ? 20 : Math.max(name.length, isText ? MIN_KEY_COLUMNS : least);
      return { name, place, isText, width };
    });
  }

  lines(rows: readonly Row[]): string {
    if (rows.length === 0) return "";
    const cells = rows.map((row) => this.#cells(row));
    for (const column of this.#columns)
      for (const row of cells) column.width = Math.max(column.width, stringWidth(row[column.place]!));
    this.#fit();
    const names = this.#columns.map(({ name }) => name);
    const header = this.#isHeaderDue ? `${this.#colors.bold(this.#line(names, false))}\n` : "";
    this.#isHeaderDue = false;
    const shown = (row: readonly string[]) => this.#columns.map(({ place }) => row[place]!);
    return header + cells.map((row) => `${this.#line(shown(row), true)}\n`).join("");
  }

  /** Narrows the keys, and leaves out columns until the others fit: numbers that say least, then the first percentiles, then the count. */
  #fit(): void {
    const excess = () =>
      this.#columns.reduce((sum, { width }) => sum + width, GAP * (this.#columns.length - 1)) - this.#maxWidth;
    const key = this.#hasKey ? this.#columns[1] : undefined;
    if (key && excess() > 0) key.width = Math.max(MIN_KEY_COLUMNS, key.width - excess());
    while (excess() > 0) {
      const [least] = DROPPED.flatMap((name) => this.#columns.find((each) => each.name === name) ?? []);
      const [first, ...others] = this.#columns.filter(({ name }) => name.startsWith("p"));
      const count = this.#columns.find(({ name }) => name === "count");
      const dropped = least ?? (others.length > 0 ? first : count);
      if (!dropped) break;
      this.#columns = this.#columns.filter((each) => each !== dropped);
      this.#isHeaderDue = true;
    }
  }

  #cells(row: Row): string[] {
    const numbers = [row.count, row.sum, row.mean, row.min, row.max, row.std, ...row.percentiles].map(exact);
    const end = instant(row.endMs) + (row.degraded ? " (incomplete)" : "");
    return [end, ...(this.#hasKey ? [safeText(row.key ?? "")] : []), ...numbers];
  }

  #line(cells: readonly string[], isRow: boolean): string {
    const texts = this.#columns.map(({ place, isText, width }, index) => {
      const cell = isText && place > 0 ? cut(cells[index]!, width) : cells[index]!;
      const blanks = " ".repeat(Math.max(0, width - stringWidth(cell)));
      const padded = isText ? cell + blanks : blanks + cell;
      return isRow && place === 0 ? this.#colors.dim(padded) : isRow && isText ? this.#colors.cyan(padded) : padded;
    });
    return texts.join(" ".repeat(GAP)).trimEnd();
  }
}
