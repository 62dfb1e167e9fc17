import type { Column, Kernel, Piece, Scan, Windows } from "../contract.ts";
import type { Orders } from "./rolling-orders.ts";
import { checkTimes } from "./rolling-windows.ts";

/** Events ranked together, so that the fixed cost of a ranking is small beside them. */
const LEAST_PIECE = 8192;
/** A piece this large holds two windows rather than four: memory counts more than ranking fewer events twice. */
const LARGE_PIECE = 1 << 22;

/** Windows looked at in one go. */
const CHUNK = 4096;

/** "none": no value is NaN. Else what a NaN does to the windows it is in. */
export type NanRule = "none" | "ignore" | "propagate";

/**
 * Rolls over all events, in pieces of some four windows: what lies before a piece's first answer is ranked in two
 * pieces. Nothing is kept for the whole run but the answers.
 */
export function rollPieces(
  kernel: Kernel,
  values: Column,
  windows: Windows,
  orders: readonly Orders[],
  nan: NanRule,
  leastPiece = LEAST_PIECE,
): Float64Array[] {
  const out = orders.map(() => new Float64Array(values.length));
  const plan = new Plan(kernel, windows, values.length, leastPiece);
  for (let begin = 0; begin < values.length; begin = plan.end) {
    plan.next();
    const { base, end } = plan;
    const { fewest, most } = plan.scan;
    // Values that are NaN are not counted, so any smaller count may occur.
    const least = nan === "none" ? fewest : 0;
    const piece = { values: values.subarray(base, end), base, starts: plan.starts.subarray(0, end - begin), least };
    const answers = out.map((column) => column.subarray(begin, end));
    kernel.roll(
      piece,
      orders.map((table) => table.between(least, most)),
      answers,
    );
    if (nan === "propagate") for (const column of answers) spread(piece, column);
  }
  return out;
}

/** Where the next piece lies. */
class Plan {
  /** The first event of the piece's first window, and the event after the last that it answers. */
  base = 0;
  end = 0;
  /** Of the events it answers the window's first one, and the least and greatest count of events in a window. */
  starts = new Uint32Array(CHUNK);
  readonly scan: Scan = { start: 0, fewest: 0, most: 0 };
  readonly #kernel: Kernel;
  readonly #windows: Windows;
  readonly #count: number;
  readonly #leastPiece: number;

  constructor(kernel: Kernel, windows: Windows, count: number, leastPiece: number) {
    this.#kernel = kernel;
    this.#windows = windows;
    this.#count = count;
    this.#leastPiece = leastPiece;
  }

  next(): void {
    const begin = this.end;
    this.scan.fewest = this.#count;
    this.scan.most = 0;
    do {
      const limit = this.scan.most === 0 ? 1 : this.base + this.#limit();
      this.#extend(begin, Math.min(this.#count, this.end + CHUNK, Math.max(limit, this.end + 1)));
      this.base = this.starts[0]!;
    } while (this.end < this.#count && this.end - this.base < this.#limit());
  }

  #limit(): number {
    const { most } = this.scan;
    return Math.max(this.#leastPiece, most * 2, Math.min(most * 4, LARGE_PIECE));
  }

  #extend(begin: number, stop: number): void {
    if (stop - begin > this.starts.length) {
      const larger = new Uint32Array(2 * (stop - begin));
      larger.set(this.starts);
      this.starts = larger;
    }
    const out = this.starts.subarray(this.end - begin, stop - begin);
    const wrong = this.#kernel.starts(this.#windows, this.end, stop, this.scan, out);
    checkTimes(this.#windows.times, wrong, stop);
    this.end = stop;
  }
}

/** NaN wherever the window holds one. */
function spread({ values, base, starts }: Piece, answers: Float64Array): void {
  const warm = values.length - starts.length;
  let latest = -1;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i]!)) latest = base + i;
    if (i >= warm && latest >= starts[i - warm]!) answers[i - warm] = Number.NaN;
  }
}
