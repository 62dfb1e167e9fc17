import type { Column } from "../../kernel/contract.ts";
import { MOST_IN_SEGMENT } from "../../stats/segments/segment.ts";
import type { Segments } from "../../stats/segments/segments.ts";
import type { FrameParts } from "../format/frames.ts";

/** Fewer bytes of frames are not worth a column over them. */
const WORTH_COLUMN = 4096;
/** Up to so many values are quicker taken one by one than as a piece of a column. */
const FEW = 64;

/** Own times of one segment's share of a frame. */
const times = new Float64Array(MOST_IN_SEGMENT);

/** The values of frames in a stretch of a journal, on their way into segments. */
export class FrameValues {
  readonly view: DataView;
  readonly #width: number;
  /** All bytes as values, those between the values included: frames lie at multiples of a value's width. */
  readonly #column: Column | undefined;

  constructor(bytes: Uint8Array, valueType: number) {
    this.#width = valueType === 1 ? 8 : 4;
    let there = bytes;
    if (bytes.length >= WORTH_COLUMN) {
      if (bytes.byteOffset % this.#width !== 0) there = new Uint8Array(bytes);
      const count = Math.floor(there.length / this.#width);
      this.#column =
        valueType === 1
          ? new Float64Array(there.buffer, there.byteOffset, count)
          : new Float32Array(there.buffer, there.byteOffset, count);
    }
    this.view = new DataView(there.buffer, there.byteOffset, there.byteLength);
  }

  /** Takes the events of one frame into segments. */
  store(events: Segments, { count, baseAt, valuesAt }: FrameParts, stampMs: number): void {
    if (count === 1 && baseAt < 0) {
      events.append(stampMs, this.#at(valuesAt));
      events.filled();
      return;
    }
    const baseMs = baseAt < 0 ? 0 : this.view.getFloat64(baseAt, true);
    for (let from = 0; from < count; ) {
      const segment = events.open();
      const some = Math.min(segment.room, count - from);
      const first = segment.reserve(some);
      this.#read(valuesAt + from * this.#width, segment.values, first, some);
      if (baseAt < 0) segment.stampAll(stampMs, some);
      else {
        for (let i = 0; i < some; i++) times[i] = baseMs + this.view.getUint32(baseAt + 8 + 4 * (from + i), true);
        segment.stampEach(times, 0, some);
      }
      from += some;
      events.filled();
    }
  }

  #at(at: number): number {
    return this.#width === 4 ? this.view.getFloat32(at, true) : this.view.getFloat64(at, true);
  }

  #read(at: number, values: Column, first: number, count: number): void {
    const column = this.#column;
    if (column) {
      const from = at / this.#width;
      if (count > FEW) values.set(column.subarray(from, from + count), first);
      else for (let i = 0; i < count; i++) values[first + i] = column[from + i];
    } else if (count > 8) {
      const { buffer, byteOffset } = this.view;
      const source = new Uint8Array(buffer, byteOffset + at, count * this.#width);
      new Uint8Array(values.buffer, values.byteOffset + first * this.#width, source.length).set(source);
    } else for (let i = 0; i < count; i++) values[first + i] = this.#at(at + i * this.#width);
  }
}
