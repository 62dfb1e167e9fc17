import type { Segment } from "../segments/segment.ts";
import type { Candidates } from "./live-candidates.ts";

/**
 * Follows one window as events enter and leave it, each told to the candidates. It knows which they are as long as they
 * came in the order of their times and are in the past: those inside are then one stretch of the arrivals.
 *
 *   segments   |.........xxxx|xxxxxxxxxxxxx|xxxxxxx|
 *                        ^ tail, leaves next       ^ taken, all that came
 */
export class LiveWindow {
  /** Events inside, NaNs included. */
  count = 0;
  readonly #candidates: Candidates;
  /** More events that come, or go, at once are better looked up. */
  readonly #mostChanges: number;
  /** From the one that holds the tail to the last. */
  #segments: Segment[] = [];
  #first: Segment | undefined;
  #last: Segment | undefined;
  #tail = 0;
  #taken = 0;
  #latestMs = -Infinity;

  constructor(candidates: Candidates, mostChanges: number) {
    this.#candidates = candidates;
    this.#mostChanges = mostChanges;
  }

  /**
   * Takes up its place; the caller fills in the count. False, and no place taken, when the events inside are no stretch
   * of the arrivals. O(events inside), about 1 ns each.
   */
  begin(segments: readonly Segment[], leastMs: number, toMs: number): boolean {
    let laterMs = toMs;
    let latestMs = -Infinity;
    let s = segments.length - 1;
    let tail = 0;
    search: for (; s >= 0; s--)
      for (let i = segments[s].count - 1; i >= 0; i--) {
        const t = segments[s].timeAt(i);
        if (t > laterMs) return false;
        if (t < leastMs) {
          tail = i + 1;
          break search;
        }
        laterMs = t;
        latestMs = Math.max(latestMs, t);
      }
    if (segments.length === 0 || !areAllBefore(segments, s, tail, leastMs)) return false;
    this.#segments = segments.slice(Math.max(0, s));
    this.#first = this.#segments[0];
    this.#last = segments[segments.length - 1];
    this.#tail = tail;
    this.#taken = this.#last.count;
    this.#latestMs = latestMs;
    return true;
  }

  /** Brings everything up to the window's new edges; false when it lost its place, or too much came or went. */
  follow(segments: readonly Segment[], leastMs: number, toMs: number): boolean {
    const last = segments[segments.length - 1];
    if (last !== this.#last && !this.#advance(segments, toMs)) return false;
    return this.#take(last, toMs) && this.#leave(leastMs);
  }

  /** Goes on to the last segment, past all that came before it. */
  #advance(segments: readonly Segment[], toMs: number): boolean {
    const s = segments.indexOf(this.#last!);
    // The last segment seen is gone: so are all its events.
    if (s < 0) return false;
    for (let next = s + 1; next < segments.length; next++) {
      if (!this.#take(this.#last!, toMs)) return false;
      this.#last = segments[next];
      this.#segments.push(this.#last);
      this.#taken = 0;
    }
    return true;
  }

  /** Events of the last segment that came since. */
  #take(last: Segment, toMs: number): boolean {
    const end = last.count;
    let i = this.#taken;
    if (end - i > this.#mostChanges) return false;
    for (; i < end; i++) {
      const t = last.timeAt(i);
      if (t < this.#latestMs || t > toMs) return false;
      this.#latestMs = t;
      this.count++;
      this.#candidates.add(last.values[i]);
    }
    this.#taken = end;
    return true;
  }

  #leave(leastMs: number): boolean {
    const first = this.#first!;
    const start = this.#tail;
    const most = start + this.#mostChanges;
    const end = first === this.#last ? this.#taken : first.count;
    let i = start;
    for (; i < end && first.timeAt(i) < leastMs; i++) {
      if (i === most) return false;
      this.count--;
      this.#candidates.remove(first.values[i]);
    }
    this.#tail = i;
    return i < end || first === this.#last || this.#leaveNext(leastMs);
  }

  #leaveNext(leastMs: number): boolean {
    this.#segments.shift();
    this.#first = this.#segments[0];
    this.#tail = 0;
    return this.#leave(leastMs);
  }
}

/** Whether the events before `tail` of segment `s`, and of all segments before it, are before `leastMs`. */
function areAllBefore(segments: readonly Segment[], s: number, tail: number, leastMs: number): boolean {
  for (let i = 0; i < tail; i++) if (segments[s].timeAt(i) >= leastMs) return false;
  for (let earlier = 0; earlier < s; earlier++) if (segments[earlier].latestMs >= leastMs) return false;
  return true;
}
