import pc from "picocolors";
import type { WindowStats } from "../../entries/index.ts";
import type { Output } from "../output.ts";

const SHOWN_ROWS = 15;
const COLUMNS = ["time", "count", "req/s", "mean ms", "p50 ms", "p90 ms", "p99 ms", "max ms"];
const BAR_WIDTH = 20;

/** One row per second. A terminal redraws the last rows, with a bar for the p99. Other outputs get one line per row. */
export class LiveTable {
  readonly #output: Output;
  readonly #isTerminal: boolean;
  #rows: { cells: string[]; p99: number }[] = [];
  #drawnLines = 0;
  #firstMs = 0;

  constructor(output: Output, isTerminal: boolean) {
    this.#output = output;
    this.#isTerminal = isTerminal;
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
    const maxMs = Math.max(...this.#rows.map(({ p99 }) => (Number.isFinite(p99) ? p99 : 0)), 1);
    const lines = this.#rows.map(({ cells, p99 }, index) => {
      const bar = "█".repeat(Math.round(((Number.isFinite(p99) ? p99 : 0) / maxMs) * BAR_WIDTH));
      const text = index === this.#rows.length - 1 ? pc.bold(line(cells)) : line(cells);
      return `${text}  ${pc.yellow(bar)}`;
    });
    const block = [pc.cyan(line(COLUMNS)), ...lines];
    const up = this.#drawnLines > 0 ? `\x1b[${this.#drawnLines}A` : "";
    this.#drawnLines = block.length;
    await this.#output.write(`${up}${block.map((text) => `\x1b[2K${text}\n`).join("")}`);
  }
}

function line(cells: readonly string[]): string {
  return cells.map((cell) => cell.padStart(8)).join("  ");
}

function fixed(value: number | undefined): string {
  return value === undefined || Number.isNaN(value) ? "-" : value.toFixed(2);
}
