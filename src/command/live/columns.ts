import stringWidth from "string-width";
import { safeText } from "../text/safe-text.ts";

/** A column of a table. In a narrow terminal the columns with the largest `rank` are left out first. */
export interface Column {
  head: string;
  cells: readonly string[];
  /** 0: always shown. */
  rank: number;
  isRight?: boolean;
  /** The column may be cut to this width. Default: its cells are never cut. */
  minWidth?: number;
  /** Colours a cell after its width is known. */
  paint?: (text: string, row: number) => string;
}

const GAP = 2;

/**
 * Lines of a table: the heads, then one line for each row. Each fits into `width` columns of a terminal, unless the columns of
 * rank 0 alone are wider. Control characters are escaped.
 */
export function tableLines(columns: readonly Column[], width = Number.POSITIVE_INFINITY): string[] {
  const safe = columns.map((column) => ({ ...column, head: whole(column.head), cells: column.cells.map(whole) }));
  const shown = withWidths(safe, width);
  const rows = shown[0]?.cells.length ?? 0;
  const lineOf = (cell: (column: (typeof shown)[number]) => string) => shown.map(cell).join(" ".repeat(GAP)).trimEnd();
  return [
    lineOf(({ head, isRight, width }) => padded(head, width, isRight)),
    ...Array.from({ length: rows }, (_, row) =>
      lineOf(({ cells, isRight, width, paint = (text) => text }) =>
        paint(padded(cut(cells[row]!, width), width, isRight), row),
      ),
    ),
  ];
}

/** The text without control characters, in at most `width` columns of a terminal. */
export function cut(text: string, width: number): string {
  const safe = whole(text);
  if (stringWidth(safe) <= width) return safe;
  let [left, kept] = [width - 1, ""];
  for (const { segment } of new Intl.Segmenter().segment(safe)) {
    left -= stringWidth(segment);
    if (left < 0) break;
    kept += segment;
  }
  return width < 1 ? "" : `${kept}…`;
}

function whole(text: string): string {
  return safeText(text, Number.POSITIVE_INFINITY);
}

function padded(text: string, width: number, isRight = false): string {
  const blanks = " ".repeat(Math.max(0, width - stringWidth(text)));
  return isRight ? blanks + text : text + blanks;
}

/** The columns that fit, each with its width. The columns that were cut share the remaining width, the first ones first. */
function withWidths(columns: readonly Column[], width: number): (Column & { width: number })[] {
  const natural = new Map(columns.map((column) => [column, naturalWidth(column)]));
  const leastOf = (column: Column) => Math.min(natural.get(column)!, column.minWidth ?? Number.POSITIVE_INFINITY);
  let kept = [...columns];
  const sum = () => kept.reduce((all, column) => all + leastOf(column), GAP * (kept.length - 1));
  while (sum() > width) {
    const last = Math.max(...kept.map(({ rank }) => rank));
    if (last === 0) break;
    kept = kept.filter(({ rank }) => rank !== last);
  }
  let left = width - sum();
  return kept.map((column) => {
    const least = leastOf(column);
    const more = Math.max(0, Math.min(left, natural.get(column)! - least));
    left -= more;
    return { ...column, width: least + more };
  });
}

function naturalWidth({ head, cells }: Column): number {
  return Math.max(stringWidth(head), ...cells.map((cell) => stringWidth(cell)));
}
