import type { WindowStats } from "../../entries/index.ts";
import { colorsFor, type Output, type Streams, widthOf } from "../output.ts";

const SHOWN_ROWS = 15;
const COLUMNS = ["time", "count", "req/s", "mean ms", "p50 ms", "p90 ms", "p99 ms", "max ms"];
/** The columns that a narrow terminal leaves out, in this order. */
const LEFT_OUT = ["count", "max ms", "mean ms", "p90 ms"];
const CELL_WIDTH = 8;
const GAP = 2;
const MAX_BAR_WIDTH = 20;
const MIN_BAR_WIDTH = 5;

/** One row per second. A terminal redraws the last rows, with a bar for the p99. Other outputs get one line per row. */
export class LiveTable {
  readonly #output: Output;
  readonly #stdout: Streams["stdout"];
  readonly #isTerminal: boolean;
  #rows: { cells: string[]; p99: number }[] = [];
  #drawnLines = 0;
  #firstMs = 0;

  constructor(output: Output, stdout: Streams["stdout"]) {
    this.#output = output;
    this.#stdout = stdout;
    this.#isTerminal = stdout.isTTY === true;
  }

  /** `spanMs`: the length of the window. The rate covers the part of it since the first row. */
  add(stats: WindowStats, spanMs: number): void {
    if (this.#firstMs === 0) this.#firstMs = stats.to - 1000;
    const seconds = Math.min(spanMs, stats.to - this.#firstMs) / 1000;
    const p99 = stats.percentiles[99] ?? Number.NaN;
    const figures = [stats.mean, stats.percentiles[50], stats.percentiles[90], p99, stats.max];
    const time = new Date(stats.to).toISOString().slice(11, 19);
    const cells = [time, String(stats.count), (stats.count / seconds).toFixed(0), ...figures.map(fixed)];
    this.#rows.push({ cells, p99 });
    if (this.#isTerminal) this.#rows = this.#rows.slice(-SHOWN_ROWS);
  }

  async draw(): Promise<void> {
    if (!this.#isTerminal) {
      const header = this.#drawnLines++ === 0 ? `${line(COLUMNS)}\n` : "";
      return this.#output.write(`${header}${line((this.#rows.pop() as { cells: string[] }).cells)}\n`);
    }
    const width = widthOf(this.#stdout) ?? 80;
    const shown = columnsIn(width);
    const barWidth = Math.min(MAX_BAR_WIDTH, width - shown.length * (CELL_WIDTH + GAP));
    const colors = colorsFor(this.#stdout);
    const maxMs = Math.max(...this.#rows.map(({ p99 }) => (Number.isFinite(p99) ? p99 : 0)), 1);
    const pick = (cells: readonly string[]) => line(shown.map((column) => cells[column]!));
    const lines = this.#rows.map(({ cells, p99 }, index) => {
      const text = index === this.#rows.length - 1 ? colors.bold(pick(cells)) : pick(cells);
      if (barWidth < MIN_BAR_WIDTH) return text;
      const bar = "█".repeat(Math.round(((Number.isFinite(p99) ? p99 : 0) / maxMs) * barWidth));
      return `${text}${" ".repeat(GAP)}${colors.yellow(bar)}`;
    });
    const block = [colors.cyan(pick(COLUMNS)), ...lines];
    const up = this.#drawnLines > 0 ? `\x1b[${this.#drawnLines}A` : "";
    this.#drawnLines = block.length;
    await this.#output.write(`${up}${block.map((text) => `\x1b[2K${text}\n`).join("")}`);
  }
}

/** The numbers of the columns that fit into a width. */
function columnsIn(width: number): number[] {
  const fitting = Math.floor((width + GAP) / (CELL_WIDTH + GAP));
  const left = LEFT_OUT.slice(0, Math.max(0, COLUMNS.length - fitting));
  return COLUMNS.flatMap((name, i) => (left.includes(name) ? [] : i));
}

function line(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(CELL_WIDTH)).join(" ".repeat(GAP));
}

function fixed(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? "-" : value.toFixed(2);
}
