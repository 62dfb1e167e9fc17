import { type Closed, isInside } from "../../time.ts";

export interface ScheduleOptions {
  readonly spanMs: number;
  readonly everyMs: number;
  readonly latenessMs: number;
  readonly closed: Closed;
  /** Also print windows without events. */
  readonly empty: boolean;
}

/**
 * "open": no window that covers it is closed yet. "late": one is, another is not. "lost": all are.
 * "between": no window covers it, ever (where the span is shorter than `every`).
 */
export type Verdict = "open" | "late" | "lost" | "between";

/**
 * Which windows end when. Windows end at the whole multiples T of `every` since 1970 UTC and hold the events that the
 * window law puts between T - span and T. The window that ends at T is closed, and printed, as soon as a time t with
 * t - lateness > T is read (an event at T itself still belongs to it); at the end of the input all others are, up to
 * the first T at or after the latest event. An event that comes after a window that covers it was closed counts in the
 * later windows that cover it ("late"); when none is left it counts nowhere ("lost"). Times only; no store, no clock.
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

  /** The ends of the windows that an event at `atMs` closes; they are to be printed before that event is recorded. */
  *advance(atMs: number): Generator<number> {
    if (atMs <= this.#latestMs) return;
    const { spanMs, everyMs, latenessMs, empty } = this.#options;
    const limitMs = atMs - latenessMs;
    if (Number.isNaN(this.#nextEndMs)) this.#nextEndMs = endAtOrAfter(limitMs, everyMs);
    while (this.#nextEndMs < limitMs && (empty || this.#nextEndMs <= this.#latestMs + spanMs)) yield* this.#close();
    if (this.#nextEndMs < limitMs) this.#nextEndMs = endAtOrAfter(limitMs, everyMs); // over a gap
    this.#latestMs = atMs;
  }

  /** Classifies an event, after the windows that it closes are closed. */
  judge(atMs: number): Verdict {
    const { spanMs, everyMs, closed } = this.#options;
    const next = this.#nextEndMs;
    const first = endAtOrAfter(atMs, everyMs); // no window covers an event better than the first that ends at or after it
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
