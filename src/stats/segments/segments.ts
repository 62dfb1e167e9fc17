import type { Column } from "../../kernel/contract.ts";
import { MOST_IN_SEGMENT, Segment } from "./segment.ts";

/** Events in arrival order, as segments of which the last may be open. */
export class Segments {
  list: Segment[] = [];
  /** Changes whenever the list does, or a segment is closed. */
  version = 0;
  readonly #valueType: number;
  readonly #most: number;
  #open: Segment | undefined;
  #closedCount = 0;

  /** `most` events in a segment, for tests that need many. */
  constructor(valueType: number, most = MOST_IN_SEGMENT) {
    this.#valueType = valueType;
    this.#most = most;
  }

  get count(): number {
    return this.#closedCount + this.openCount;
  }

  /** Events of the one that is not closed. */
  get openCount(): number {
    return this.#open?.count ?? 0;
  }

  /** One with room, made where there is none; as large as the last one was. */
  open(): Segment {
    return this.#open ?? this.#begin();
  }

  #begin(): Segment {
    this.#open = new Segment(this.#valueType, this.list.at(-1)?.count, this.#most);
    this.list.push(this.#open);
    this.version++;
    return this.#open;
  }

  /** Told after events were put into the open one: closes it when it is full. */
  filled(): void {
    if (this.#open?.room === 0) this.close();
  }

  /** No more events come into the segment that is open. */
  close(): void {
    if (!this.#open) return;
    this.#open.close();
    this.#closedCount += this.#open.count;
    this.#open = undefined;
    this.version++;
  }

  /** Takes out the first segment. */
  shift(): Segment | undefined {
    const first = this.list.shift();
    if (first === this.#open) this.#open = undefined;
    else if (first) this.#closedCount -= first.count;
    this.version++;
    return first;
  }

  append(ms: number, value: number): void {
    if (!this.open().append(ms, value)) {
      this.close();
      this.open().append(ms, value);
    }
  }

  /** Events in order, at one time or each at its own. */
  appendAll(values: Column, times: number | ArrayLike<number>): void {
    for (let from = 0; from < values.length; ) {
      const segment = this.open();
      const count = Math.min(segment.room, values.length - from);
      const at = segment.reserve(count);
      segment.values.set(count === values.length ? values : values.subarray(from, from + count), at);
      if (typeof times === "number") segment.stampAll(times, count);
      else segment.stampEach(times, from, from + count);
      from += count;
      this.filled();
    }
  }

  /** Lets go of segments whose events are all older than `ms`; false when there is none. */
  dropBefore(ms: number): boolean {
    if (!this.list.some(({ latestMs }) => latestMs < ms)) return false;
    this.list = this.list.filter(({ latestMs }) => latestMs >= ms);
    if (this.#open && !this.list.includes(this.#open)) this.#open = undefined;
    this.#closedCount = -this.openCount;
    for (const { count } of this.list) this.#closedCount += count;
    this.version++;
    return true;
  }
}
