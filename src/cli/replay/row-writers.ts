import type { Colors } from "picocolors/types";
import { instantText, numberText, type Row } from "../row.ts";
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
    const head = JSON.stringify({ end: instantText(endMs), key, count, sum, mean, min, max, std });
    return `${head.slice(0, -1)},"percentiles":{${pairs}},"degraded":${degraded}}`;
  }
}

/** Columns for people. Rows are written at once, so a column grows with a wider cell, and never shrinks. */
export class TableWriter implements RowWriter {
  readonly #colors: Colors;
  readonly #names: string[];
  readonly #hasKey: boolean;
  readonly #widths: number[];
  #isHeaderDue = true;

  constructor(percentiles: readonly number[], hasKey: boolean, colors: Colors) {
    this.#colors = colors;
    this.#hasKey = hasKey;
    const labels = percentiles.map((percentile) => `p${percentile}`);
    this.#names = ["window end", ...(hasKey ? ["key"] : []), "count", "sum", "mean", "min", "max", "std", ...labels];
    this.#widths = this.#names.map((name, index) =>
      index === 0 ? 20 : Math.max(name.length, index === 1 && hasKey ? 8 : 9),
    );
  }

  lines(rows: readonly Row[]): string {
    if (rows.length === 0) return "";
    const cells = rows.map((row) => this.#cells(row));
    for (const row of cells) {
      for (const [index, cell] of row.entries())
        this.#widths[index] = Math.max(this.#widths[index] as number, cell.length);
    }
    const header = this.#isHeaderDue ? `${this.#colors.bold(this.#line(this.#names, false))}\n` : "";
    this.#isHeaderDue = false;
    return header + cells.map((row) => `${this.#line(row, true)}\n`).join("");
  }

  #cells(row: Row): string[] {
    const numbers = [row.count, row.sum, row.mean, row.min, row.max, row.std, ...row.percentiles].map(numberText);
    const end = instantText(row.endMs) + (row.degraded ? " (incomplete)" : "");
    return [end, ...(this.#hasKey ? [safeText(row.key ?? "")] : []), ...numbers];
  }

  #line(cells: readonly string[], isRow: boolean): string {
    const texts = cells.map((cell, index) => {
      const width = this.#widths[index] as number;
      const isText = index === 0 || (index === 1 && this.#hasKey);
      const padded = isText ? cell.padEnd(width) : cell.padStart(width);
      return isRow && index === 0 ? this.#colors.dim(padded) : isRow && isText ? this.#colors.cyan(padded) : padded;
    });
    return texts.join("  ").trimEnd();
  }
}
