import type { Segment } from "../segments/segment.ts";
import type { Candidates } from "./candidates.ts";

/**
 * Follows one window, and passes each event that enters or leaves to the candidates. This works while events arrive in
 * the order of their times and none is in the future. The events inside (x) are then consecutive arrivals.
 *
 *   segments   |.........xxxx|xxxxxxxxxxxxx|xxxxxxx|
 *                        ^ oldest, leaves first    ^ end of the events that entered
 */
export class LiveWindow {
  /** Number of events inside, NaN included. */
  count = 0;
  readonly #candidates: Candidates;
  /** If more events enter, or leave, between two answers, `stats` is faster. */
  readonly #maxChanges: number;
  /** The segments from that of the oldest event inside to the last one. */
  #segments: Segment[] = [];
  #first: Segment | undefined;
  #last: Segment | undefined;
  /** Index of the oldest event inside, in the first segment. */
  #oldest = 0;
  /** Number of events of the last segment that have entered. */
  #entered = 0;
  #latestMs = Number.NEGATIVE_INFINITY;

  constructor(candidates: Candidates, maxChanges: number) {
    this.#candidates = candidates;
    this.#maxChanges = maxChanges;
  }

  /**
   * Finds the events from `firstMs` to `toMs`; the caller then sets `count`. Returns false if they are not consecutive
   * arrivals. Cost: O(events inside), about 1 ns each.
   */
  begin(segments: readonly Segment[], firstMs: number, toMs: number): boolean {
    let laterMs = toMs;
    let latestMs = Number.NEGATIVE_INFINITY;
    let s = segments.length - 1;
    let oldest = 0;
    search: for (; s >= 0; s--) {
      const segment = segments[s]!;
      for (let i = segment.count - 1; i >= 0; i--) {
        const t = segment.timeAt(i);
        if (t > laterMs) return false;
        if (t < firstMs) {
          oldest = i + 1;
          break search;
        }
        laterMs = t;
        latestMs = Math.max(latestMs, t);
      }
    }
    const inside = segments.slice(Math.max(0, s));
    const [first] = inside;
    const last = inside.at(-1);
    if (!first || !last || !areAllBefore(segments, s, oldest, firstMs)) return false;
    this.#segments = inside;
    this.#first = first;
    this.#last = last;
    this.#oldest = oldest;
    this.#entered = last.count;
    this.#latestMs = latestMs;
    return true;
  }

  /** Moves to the window's new edges. Returns false if an event was out of order, or too many entered or left. */
  follow(segments: readonly Segment[], firstMs: number, toMs: number): boolean {
    const last = segments[segments.length - 1];
    if (last !== this.#last && !this.#advance(segments, toMs)) return false;
    return last !== undefined && this.#enter(last, toMs) && this.#leave(firstMs);
  }

  /** Enters the events of all segments up to the last one, which becomes the current one. */
  #advance(segments: readonly Segment[], toMs: number): boolean {
    let last = this.#last;
    if (!last) return false;
    const s = segments.indexOf(last);
    // The segment was dropped, with all its events.
    if (s < 0) return false;
    for (const next of segments.slice(s + 1)) {
      if (!this.#enter(last, toMs)) return false;
      last = next;
      this.#last = next;
      this.#segments.push(next);
      this.#entered = 0;
    }
    return true;
  }

  /** Adds the events of the last segment that arrived since the last answer. */
  #enter(last: Segment, toMs: number): boolean {
    const end = last.count;
    let i = this.#entered;
    if (end - i > this.#maxChanges) return false;
    for (; i < end; i++) {
      const t = last.timeAt(i);
      if (t < this.#latestMs || t > toMs) return false;
      this.#latestMs = t;
      this.count++;
      this.#candidates.add(last.valueAt(i));
    }
    this.#entered = end;
    return true;
  }

  /** Removes the events before `firstMs`. */
  #leave(firstMs: number): boolean {
    const first = this.#first;
    if (!first) return false;
    const start = this.#oldest;
    const limit = start + this.#maxChanges;
    const end = first === this.#last ? this.#entered : first.count;
    let i = start;
    for (; i < end && first.timeAt(i) < firstMs; i++) {
      if (i === limit) return false;
      this.count--;
      this.#candidates.remove(first.valueAt(i));
    }
    this.#oldest = i;
    return i < end || first === this.#last || this.#leaveNext(firstMs);
  }

  #leaveNext(firstMs: number): boolean {
    this.#segments.shift();
    this.#first = this.#segments[0];
    this.#oldest = 0;
    return this.#leave(firstMs);
  }
}

/** True if the events before index `end` of segment `s`, and those of all earlier segments, are before `firstMs`. */
function areAllBefore(segments: readonly Segment[], s: number, end: number, firstMs: number): boolean {
  const segment = segments[s];
  for (let i = 0; segment && i < end; i++) if (segment.timeAt(i) >= firstMs) return false;
  return segments.slice(0, Math.max(0, s)).every(({ latestMs }) => latestMs < firstMs);
}
