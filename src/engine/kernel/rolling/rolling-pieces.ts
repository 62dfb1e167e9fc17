import { argumentError } from "../../../base/errors.ts";
import type { Column, Kernel, Piece, Scan, Times, Windows } from "../contract.ts";
import type { RankTables } from "./rank-tables.ts";

/** Minimum number of events in a piece, so that the fixed cost of ranking it is small per event. */
const MIN_PIECE = 8192;
/** A piece this large covers two windows instead of four, to save memory. More events are then ranked twice. */
const LARGE_PIECE = 1 << 22;

/** Number of windows per call of `starts`. */
const CHUNK = 4096;

/** "none": no value is NaN. Otherwise the effect of a NaN on the windows that contain it. */
export type NanRule = "none" | "ignore" | "propagate";

/**
 * Computes the rolling percentiles in pieces of about four windows. Events before the first answer of a piece are also
 * ranked in the piece before. Apart from the answers, memory does not grow with the number of events.
 */
export function rollPieces(
  kernel: Kernel,
  values: Column,
  windows: Windows,
  orders: readonly RankTables[],
  nan: NanRule,
  minPiece = MIN_PIECE,
): Float64Array[] {
  const out = orders.map(() => new Float64Array(values.length));
  const plan = new Plan(kernel, windows, values.length, minPiece);
  for (let begin = 0; begin < values.length; begin = plan.end) {
    plan.next();
    const { base, end } = plan;
    const { fewest, most } = plan.scan;
    // Values that are NaN are not counted, so any smaller count may occur.
    const minCount = nan === "none" ? fewest : 0;
    const piece = { values: values.subarray(base, end), base, starts: plan.starts.subarray(0, end - begin), minCount };
    const answers = out.map((column) => column.subarray(begin, end));
    kernel.roll(
      piece,
      orders.map((table) => table.between(minCount, most)),
      answers,
    );
    if (nan === "propagate") for (const column of answers) spread(piece, column);
  }
  return out;
}

/** The position of the next piece. */
class Plan {
  /** The first event of the piece's first window, and the event after the last that it answers. */
  base = 0;
  end = 0;
  /** For each answered event the first event of its window, and the smallest and largest window by event count. */
  starts = new Uint32Array(CHUNK);
  readonly scan: Scan = { start: 0, fewest: 0, most: 0 };
  readonly #kernel: Kernel;
  readonly #windows: Windows;
  readonly #count: number;
  readonly #minPiece: number;

  constructor(kernel: Kernel, windows: Windows, count: number, minPiece: number) {
    this.#kernel = kernel;
    this.#windows = windows;
    this.#count = count;
    this.#minPiece = minPiece;
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
    return Math.max(this.#minPiece, most * 2, Math.min(most * 4, LARGE_PIECE));
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

/** Sets the answer of every window that contains a NaN to NaN. */
function spread({ values, base, starts }: Piece, answers: Float64Array): void {
  const warm = values.length - starts.length;
  let latest = -1;
  for (let i = 0; i < values.length; i++) {
    if (Number.isNaN(values[i]!)) latest = base + i;
    if (i >= warm && latest >= starts[i - warm]!) answers[i - warm] = Number.NaN;
  }
}

const MAX_SPREAD_MS = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Throws ARGUMENT, with the index, if `wrong` is below `to`: the time of that event decreases or is not finite. Also if
 * i64 times up to that event spread over more than 2^53 ms, which f64 would round.
 */
function checkTimes(times: Times, wrong: number, to: number): void {
  const last = Math.min(wrong, to) - 1;
  if (times instanceof BigInt64Array && last >= 0 && times[last]! - times[0]! > MAX_SPREAD_MS) {
    const far = times.findIndex((time) => time - times[0]! > MAX_SPREAD_MS);
    throw argumentError(`times[${far}]`, times[far]!, `at most 2^53 - 1 ms after the first, ${times[0]!} ms`);
  }
  if (wrong === to) return;
  const argument = `times[${wrong}]`;
  const [now, before] = [times[wrong]!, times[wrong - 1]];
  if (typeof now === "number" && !Number.isFinite(now)) throw argumentError(argument, now, "a finite number of ms");
  throw argumentError(argument, now, `at least ${before} ms, the time before it: times must not decrease`);
}
