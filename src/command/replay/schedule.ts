import { type Closed, isInside } from "../../base/time.ts";

export interface ScheduleOptions {
  readonly spanMs: number;
  readonly everyMs: number;
  readonly latenessMs: number;
  readonly closed: Closed;
  /** Also print windows without events. */
  readonly empty: boolean;
}

/**
 * "open": no window that covers the event is closed yet. "late": some are closed, some are open. "lost": all are
 * closed. "between": no window covers the event (if the span is shorter than `every`).
 */
export type Verdict = "open" | "late" | "lost" | "between";

/**
 * The schedule of the windows. Windows end at the whole multiples T of `every` since 1970 UTC. They hold the events
 * that the window law puts between T - span and T. The window that ends at T is closed and printed as soon as a time t
 * with t - lateness > T is read, so an event at T itself still belongs to it. The end of the input closes the other
 * windows, up to the first T at or after the latest event. An event after the close of a window that covers it counts
 * in the later windows that cover it ("late"), or in none ("lost"). This class knows times only, no store and no clock.
 */
export class WindowSchedule {
  readonly #options: ScheduleOptions;
  #nextEndMs = Number.NaN;
  #latestMs = Number.NEGATIVE_INFINITY;

  constructor(options: ScheduleOptions) {
    this.#options = options;
  }

  /** The largest time read; -Infinity before the first. */
  get latestMs(): number {
    return this.#latestMs;
  }

  /** The ends of the windows that an event at `atMs` closes. Print them before recording that event. */
  *advance(atMs: number): Generator<number> {
    if (atMs <= this.#latestMs) return;
    const { spanMs, everyMs, latenessMs, empty } = this.#options;
    const limitMs = atMs - latenessMs;
    if (Number.isNaN(this.#nextEndMs)) this.#nextEndMs = endAtOrAfter(limitMs, everyMs);
    while (this.#nextEndMs < limitMs && (empty || this.#nextEndMs <= this.#latestMs + spanMs)) yield* this.#close();
    if (this.#nextEndMs < limitMs) this.#nextEndMs = endAtOrAfter(limitMs, everyMs); // skips a gap
    this.#latestMs = atMs;
  }

  /** Classifies an event, after the windows that it closes are closed. */
  judge(atMs: number): Verdict {
    const { spanMs, everyMs, closed } = this.#options;
    const next = this.#nextEndMs;
    const first = endAtOrAfter(atMs, everyMs); // the first window that ends at or after the event covers it, if any does
    if (!isInside(atMs, first - spanMs, first, closed)) return "between";
    if (first >= next) return "open";
    return isInside(atMs, next - spanMs, next, closed) ? "late" : "lost";
  }

  /** The window ends that remain at the end of the input. */
  *finish(): Generator<number> {
    while (this.#nextEndMs <= endAtOrAfter(this.#latestMs, this.#options.everyMs)) yield* this.#close();
  }

  *#close(): Generator<number> {
    const endMs = this.#nextEndMs;
    this.#nextEndMs += this.#options.everyMs;
    yield endMs;
  }
}

/** The first multiple of `everyMs` that is not below `atMs`. */
function endAtOrAfter(atMs: number, everyMs: number): number {
  return Math.ceil(atMs / everyMs) * everyMs + 0; // + 0: never -0
}
