import { type Closed, isInside } from "../../../base/time.ts";
import type { Column } from "../../kernel/contract.ts";
import { ColumnRun, type Run } from "../runs/run.ts";
import type { Fold } from "../window-stats.ts";
import { BlockTree } from "./block-tree.ts";
import { EventTimes } from "./event-times.ts";
import type { PackedEvents } from "./packed-events.ts";

/** Maximum number of events in a segment. Sorting them when the segment is closed takes at most a third of a ms. */
export const MAX_IN_SEGMENT = 16_384;
/** The same of pairs, which are not sorted then. A question costs some steps for each group of each segment. `PackedInts` takes no more. */
const MAX_PAIRS = 65_472;
/** Segments with fewer events are not packed, because the objects of a packed segment take about 1 kB. Tests lower it. */
export const packing = { minEvents: 512 };

/**
 * Maximum memory of an event: its time (4 bytes), its value twice (arrival order and sorted), and spare capacity. Of a packed
 * event it is about the usual memory. Bit 0 of a value type says that values have 8 bytes, and bit 2 that each is a pair with a group,
 * of which a question keeps the 4 bytes of the value once more.
 */
export function bytesPerEvent(valueType: number, isPacked = false): number {
  if (isPacked) return 6 + 6 * (valueType & 1);
  return 14 + 8 * (valueType & 1) - (valueType & IS_PAIR);
}

const IS_PAIR = 4;

type MakeRun = (arrived: Column, isTransient: boolean) => Run;
let runOfPairs: MakeRun | undefined;

/** Makes the runs of pairs from now on. Structures with groups call it before they read. */
export function provideRuns(ofPairs: MakeRun): void {
  runOfPairs = ofPairs;
}

/** Maximum number of events in a segment of this type. */
export function maxInSegment(valueType: number): number {
  return valueType & IS_PAIR ? MAX_PAIRS : MAX_IN_SEGMENT;
}

/** A column for values of this type. */
export function newColumn(valueType: number, count: number): Column {
  return valueType & 1 ? new Float64Array(count) : new Float32Array(count);
}

const MIN_CAPACITY = 16;
/** Fewer events are found quicker in a leaf. */
const LEAST_ALONE = 64;

/**
 * At most 16 384 consecutive events, or 65 472 pairs, in arrival order. A closed segment has no spare capacity. It has one sorted run of
 * all its events, which answers for a window that contains the whole segment. An open segment, or one at a window's
 * edge, is read as a tree of blocks, and before there is one, its events inside are sorted alone. A packed segment is closed, and its
 * columns exist only while it is at an edge.
 */
export class Segment {
  /** The values in arrival order, while the segment is not packed. */
  values: Column;
  count = 0;
  earliestMs = Number.POSITIVE_INFINITY;
  latestMs = Number.NEGATIVE_INFINITY;
  /** True if no event has an earlier time than the event before it. */
  isOrdered = true;
  readonly #valueType: number;
  readonly #maxCount: number;
  #capacity: number;
  #times: EventTimes;
  /** The run of all events; undefined while the segment is open or empty. */
  #closedRun: Run | undefined;
  #packed: PackedEvents | undefined;
  readonly #tree = new BlockTree();
  /** Events that were sorted since the tree is empty. */
  #sortedAlone = 0;

  /** `expected`: the expected number of events. */
  constructor(valueType: number, expected = 0, maxCount = maxInSegment(valueType)) {
    const capacity = Math.min(maxCount, Math.max(expected, MIN_CAPACITY));
    this.values = newColumn(valueType, capacity);
    this.#times = new EventTimes(capacity);
    this.#valueType = valueType;
    this.#maxCount = maxCount;
    this.#capacity = capacity;
  }

  /** The number of events that can still be added. */
  get room(): number {
    return this.#maxCount - this.count;
  }

  /** Memory of the events, at most. Columns that exist for a while are not counted. */
  get sizeBytes(): number {
    return this.#packed?.sizeBytes ?? this.count * bytesPerEvent(this.#valueType);
  }

  /** The time of event `i`, in arrival order, in ms. */
  timeAt(i: number): number {
    return this.#packed ? this.#packed.timeAt(i) : this.#times.at(i);
  }

  /** The value of event `i`, in arrival order. */
  valueAt(i: number): number {
    return this.#packed ? this.#packed.valueAt(i) : this.values[i]!;
  }

  /** Writes the values from index `from` to before `to`, in arrival order, to `into`, from its index 0 on. */
  copyTo(into: Column, from: number, to: number): void {
    if (this.#packed) this.#packed.copyTo(into, from, to);
    else into.set(this.values.subarray(from, to));
  }

  /**
   * Index of the first event at `ms` or later; `count` if there is none. The segment must be ordered. The search begins
   * where the event would be if times were even, and doubles its steps, so that most often it takes a few reads.
   */
  indexAt(ms: number): number {
    const guess = ((ms - this.earliestMs) / (this.latestMs - this.earliestMs)) * this.count;
    let low = 0;
    let high = this.count;
    let at = guess >= 0 ? Math.min(Math.floor(guess), this.count - 1) : 0;
    for (let step = 1; low < high; step *= 2) {
      if (this.timeAt(at) < ms) {
        low = at + 1;
        if (at + step >= high) break;
        at += step;
      } else {
        high = at;
        if (at - step < low) break;
        at -= step;
      }
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.timeAt(middle) < ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns false, and adds nothing, if the segment is full. */
  append(ms: number, value: number): boolean {
    const at = this.count;
    if (at === this.#capacity) {
      if (at === this.#maxCount) return false;
      this.reserve(1);
    }
    if (at === 0) this.#times.begin(ms);
    if (!this.#times.set(at, ms)) this.dropCaches();
    this.values[at] = value;
    if (ms < this.earliestMs) this.earliestMs = ms;
    if (ms >= this.latestMs) this.latestMs = ms;
    else this.isOrdered = false;
    this.count = at + 1;
    return true;
  }

  /**
   * Makes room for `count` more events and returns the index of the first. The caller then writes `values`, and adds
   * the times with `stampAll` or `stampEach`.
   */
  reserve(count: number): number {
    const needed = this.count + count;
    if (needed > this.#capacity) this.#resize(Math.min(this.#maxCount, Math.max(needed, this.#capacity * 2)));
    return this.count;
  }

  /** Adds the next `count` values, all with the same time. */
  stampAll(ms: number, count: number): void {
    if (this.count === 0) this.#times.begin(ms);
    if (!this.#times.fill(this.count, this.count + count, ms)) this.dropCaches();
    this.#extend(ms, count);
  }

  /** Adds the next values, with the times from index `from` to before `to`. */
  stampEach(times: ArrayLike<number>, from: number, to: number): void {
    for (let at = from; at < to; ) {
      const ms = times[at]!;
      let end = at + 1;
      while (end < to && times[end] === ms) end++;
      this.stampAll(ms, end - at);
      at = end;
    }
  }

  /** Ends the segment: frees spare capacity, and computes the sorted run of all events. Packs them with `Packed`. */
  close(Packed?: typeof PackedEvents): void {
    if (this.#closedRun || this.count === 0) return;
    if (this.#capacity > this.count) this.#resize(this.count);
    if (Packed && this.count >= packing.minEvents) this.#packed = new Packed(this.values, this.#times);
    this.#closedRun = this.#packed?.run ?? this.#runOf(0, this.count, false);
    this.dropCaches();
  }

  get isPacked(): boolean {
    return this.#packed !== undefined;
  }

  /** Packs the events of a closed segment. Returns false if they are packed, or too few. Cost: about 0.1 us an event. */
  pack(Packed: typeof PackedEvents): boolean {
    if (!this.#closedRun || this.#packed || this.count < packing.minEvents) return false;
    this.#packed = new Packed(this.values, this.#times);
    this.#closedRun = this.#packed.run;
    this.dropCaches();
    return true;
  }

  get isClosed(): boolean {
    return this.#closedRun !== undefined;
  }

  /** The run of all events, if the segment is closed and lies wholly inside the window. */
  runIfInside(fromMs: number, toMs: number, closed: Closed): Run | undefined {
    return this.#isInside(fromMs, toMs, closed) ? this.#closedRun : undefined;
  }

  /** Adds every event inside the window to `fold`. */
  collect(fold: Pick<Fold, "add">, fromMs: number, toMs: number, closed: Closed): void {
    if (this.latestMs < fromMs || this.earliestMs > toMs) return;
    const run = this.runIfInside(fromMs, toMs, closed);
    if (run) {
      this.dropCaches();
      fold.add(run);
      return;
    }
    if (this.#packed && this.values.length === 0) this.#unpack(this.#packed);
    // Times are whole ms: `from < t` is `from + 1 <= t`.
    const firstMs = fromMs + (closed === "both" ? 0 : 1);
    if (this.#collectAlone(fold, firstMs, toMs)) return;
    const { baseMs, ticks } = this.#times;
    this.#tree.collect({ values: this.values, ticks, count: this.count }, fold, firstMs - baseMs, toMs - baseMs);
  }

  /**
   * Sorts the events inside without their blocks, which cost several times as much to make. The tree has them for questions that
   * repeat, so this is done for as many events as the segment has.
   */
  #collectAlone(fold: Pick<Fold, "add">, firstMs: number, toMs: number): boolean {
    if (!this.isOrdered || this.#sortedAlone >= this.count || !this.#tree.isEmpty) return false;
    const first = this.indexAt(firstMs);
    const end = this.indexAt(toMs + 1);
    if (end - first < LEAST_ALONE) return false;
    this.#sortedAlone += end - first;
    fold.add(this.#runOf(first, end, true));
    return true;
  }

  #runOf(first: number, end: number, isTransient: boolean): Run {
    // Events that are here stay as they are.
    if (this.#valueType & IS_PAIR && runOfPairs) return runOfPairs(this.values.subarray(first, end), isTransient);
    return ColumnRun.of(this.values.slice(first, end), isTransient);
  }

  /** Copies the values inside the window to `into`, from index `at`, in arrival order. Returns the next free index. */
  copyInside(into: Column, at: number, fromMs: number, toMs: number, closed: Closed): number {
    if (this.latestMs < fromMs || this.earliestMs > toMs) return at;
    const isWhole = this.#isInside(fromMs, toMs, closed);
    if (!isWhole && !this.isOrdered) {
      for (let i = 0; i < this.count; i++)
        if (isInside(this.timeAt(i), fromMs, toMs, closed)) into[at++] = this.valueAt(i);
      return at;
    }
    const first = isWhole ? 0 : this.indexAt(fromMs + (closed === "both" ? 0 : 1));
    const end = isWhole ? this.count : this.indexAt(toMs + 1);
    this.copyTo(into.subarray(at, at + end - first), first, end);
    return at + end - first;
  }

  /** Drops what queries have computed. A query that needs it computes it again. */
  dropCaches(): void {
    this.#tree.clear();
    this.#sortedAlone = 0;
    if (!this.#packed || this.values.length === 0) return;
    this.values = emptyLike(this.values, 0);
    this.#times = new EventTimes(0);
  }

  #isInside(fromMs: number, toMs: number, closed: Closed): boolean {
    return this.latestMs <= toMs && isInside(this.earliestMs, fromMs, toMs, closed);
  }

  #unpack(packed: PackedEvents): void {
    this.values = emptyLike(this.values, this.count);
    packed.copyTo(this.values, 0, this.count);
    this.#times = packed.times(this.count);
  }

  #extend(ms: number, count: number): void {
    if (ms < this.earliestMs) this.earliestMs = ms;
    if (ms >= this.latestMs) this.latestMs = ms;
    else this.isOrdered = false;
    this.count += count;
  }

  #resize(capacity: number): void {
    this.#times = this.#times.resized(this.count, capacity);
    const { values } = this;
    this.values = emptyLike(values, capacity);
    this.values.set(values.subarray(0, this.count));
    this.#capacity = capacity;
  }
}

function emptyLike(values: Column, length: number): Column {
  return values instanceof Float32Array ? new Float32Array(length) : new Float64Array(length);
}
