import type { Segment } from "../segments/segment.ts";

/** Receives values in the order of arrival. */
export interface ValuesVisitor {
  addValues(values: Float32Array, begin: number, end: number): void;
}

/**
 * Numbers the events of a list of segments in the order of arrival. A number stays the same while events are added at
 * the end and whole segments leave at the front.
 */
export class Positions {
  #segments: readonly Segment[] = [];
  #starts: number[] = [];
  /** The latest time of each segment but the last, in one place. */
  #latestMs = new Float64Array(0);
  #version = -1;
  #areClosedOrdered = true;
  /** Values of a packed segment, for one visit. */
  #unpacked = new Float32Array(256);

  /** Follows the list. Returns false if it changed in another way, so that all numbers are new. */
  follow(list: readonly Segment[], version: number): boolean {
    if (version === this.#version) return true;
    this.#version = version;
    const from = this.#segments.indexOf(list[0]!);
    const isSame = from >= 0 && this.#segments.every((segment, i) => i < from || segment === list[i - from]);
    const starts: number[] = [isSame ? this.#starts[from]! : 0];
    for (let i = 0; i + 1 < list.length; i++) starts.push(starts[i]! + list[i]!.count);
    this.#segments = list.slice();
    this.#starts = starts;
    this.#latestMs = Float64Array.from(list.slice(0, -1), ({ latestMs }) => latestMs);
    this.#areClosedOrdered = list.slice(0, -1).every((segment, i) => segment.isClosed && isAfter(segment, list[i - 1]));
    return isSame;
  }

  /** The number of the first event. */
  get first(): number {
    return this.#starts[0]!;
  }

  /** The number after the last event. */
  get end(): number {
    return this.#starts.at(-1)! + this.#segments.at(-1)!.count;
  }

  /** True if no event has an earlier time than the event before it, and only the last segment may still grow. */
  get areOrdered(): boolean {
    return this.#areClosedOrdered && isAfter(this.#segments.at(-1)!, this.#segments.at(-2));
  }

  /** The number of the first event at `ms` or later; `end` if there is none. The events must be ordered. */
  at(ms: number): number {
    let low = 0;
    let high = this.#latestMs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#latestMs[middle]! < ms) low = middle + 1;
      else high = middle;
    }
    return this.#starts[low]! + this.#segments[low]!.indexAt(ms);
  }

  /** Passes the parts of columns that hold the values from number `from` to before `to`. */
  visit(from: number, to: number, visitor: ValuesVisitor): void {
    if (from >= to) return;
    let next = from;
    for (let s = this.#segmentOf(from); next < to; s++) {
      const start = this.#starts[s]!;
      const segment = this.#segments[s]!;
      const end = Math.min(to, start + segment.count);
      if (end > next && segment.isPacked) this.#visitPacked(segment, next - start, end - start, visitor);
      else if (end > next) visitor.addValues(segment.values as Float32Array, next - start, end - start);
      next = end;
    }
  }

  #visitPacked(segment: Segment, from: number, to: number, visitor: ValuesVisitor): void {
    if (to - from > this.#unpacked.length) this.#unpacked = new Float32Array(to - from);
    segment.copyTo(this.#unpacked, from, to);
    visitor.addValues(this.#unpacked, 0, to - from);
  }

  #segmentOf(position: number): number {
    let low = 0;
    let high = this.#starts.length;
    while (high - low > 1) {
      const middle = (low + high) >>> 1;
      if (this.#starts[middle]! <= position) low = middle;
      else high = middle;
    }
    return low;
  }
}

function isAfter(segment: Segment, before: Segment | undefined): boolean {
  return segment.isOrdered && (before === undefined || segment.earliestMs >= before.latestMs);
}
