import { sortIndexes } from "../../kernel/blocks/js/radix.ts";
import { activeKernel } from "../../kernel/choose.ts";
import type { Column } from "../../kernel/contract.ts";
import { encode } from "../../kernel/js/keys.ts";
import { ColumnRun, type Run } from "../runs/run.ts";
import { EventTimes } from "./event-times.ts";
import { PackedInts } from "./packed-ints.ts";
import { PackedRun } from "./packed-run.ts";

/**
 * The events of a closed segment in less memory. The values are kept once, as their sorted run. Each event has its rank in
 * this run and its time.
 *
 *   run     keys of f32 numbers, packed; f64 numbers as they are
 *   ranks   packed: 14 bits an event for 16 384 events
 *   ticks   packed, unless they are f64 (`EventTimes`)
 *
 * f32 values at one event a ms take about 5 bytes an event, and values that are random bits 5.9.
 */
export class PackedEvents {
  readonly run: Run;
  readonly sizeBytes: number;
  readonly #baseMs: number;
  readonly #ranks: PackedInts;
  readonly #ticks: PackedInts | Float64Array;

  /** As many values as times, at most 65 472. */
  constructor(values: Column, { baseMs, ticks }: EventTimes) {
    const { run, runBytes, ranks } =
      values instanceof Float32Array ? packedSingles(values) : packedDoubles(values as Float64Array);
    this.run = run;
    this.#ranks = new PackedInts(ranks);
    this.#baseMs = baseMs;
    this.#ticks = ticks instanceof Uint32Array ? new PackedInts(ticks) : ticks;
    const ticksBytes = this.#ticks instanceof PackedInts ? this.#ticks.sizeBytes : this.#ticks.byteLength;
    this.sizeBytes = runBytes + this.#ranks.sizeBytes + ticksBytes;
  }

  valueAt(i: number): number {
    return this.run.at(this.#ranks.at(i));
  }

  timeAt(i: number): number {
    const ticks = this.#ticks;
    return this.#baseMs + (ticks instanceof PackedInts ? ticks.at(i) : ticks[i]!);
  }

  /** Writes the values from index `from` to before `to`, in arrival order, to `into`, from its index 0 on. */
  copyTo(into: Column, from: number, to: number): void {
    if (this.run instanceof PackedRun) {
      this.run.copyRanked(into as Float32Array, this.#ranks, from, to);
      return;
    }
    const { sorted } = this.run as ColumnRun;
    if (unpacked.length < to - from) unpacked = new Uint32Array(to - from);
    this.#ranks.copyTo(unpacked, from, to);
    for (let i = 0; i < to - from; i++) into[i] = sorted[unpacked[i]!]!;
  }

  /** The times of `count` events, as they were before. */
  times(count: number): EventTimes {
    const times = new EventTimes(0);
    times.baseMs = this.#baseMs;
    const packed = this.#ticks;
    if (packed instanceof PackedInts) {
      const ticks = new Uint32Array(count);
      packed.copyTo(ticks, 0, count);
      times.ticks = ticks;
    } else times.ticks = packed;
    return times;
  }
}

/** Scratch memory for ranks. */
let unpacked = new Uint32Array(0);

interface RankedRun {
  run: Run;
  runBytes: number;
  /** For each event the index of its value in the run; NaN is after all numbers. */
  ranks: Uint16Array;
}

/** Sorts events by their keys, so that ranks and run are known together. */
function packedSingles(values: Float32Array): RankedRun {
  const count = values.length;
  const keys = new Uint32Array(values.slice().buffer);
  encode(keys, 1);
  const order = new Uint16Array(count);
  let least = keys[0]!;
  let most = least;
  for (let i = 0; i < count; i++) {
    order[i] = i;
    least = Math.min(least, keys[i]!);
    most = Math.max(most, keys[i]!);
  }
  for (let i = 0; i < count; i++) keys[i]! -= least;
  sortIndexes(order, count, keys, 32 - Math.clz32(most - least));
  const ranks = new Uint16Array(count);
  const sorted = new Uint32Array(count);
  for (let rank = 0; rank < count; rank++) {
    ranks[order[rank]!] = rank;
    sorted[rank] = keys[order[rank]!]! + least;
  }
  const packed = new PackedInts(sorted);
  return { run: new PackedRun(activeKernel().summary(values), packed), runBytes: packed.sizeBytes, ranks };
}

function packedDoubles(values: Float64Array): RankedRun {
  const run = ColumnRun.of(values.slice());
  return { run, runBytes: values.byteLength, ranks: Uint16Array.from(values, (value) => rankOf(run, value)) };
}

function rankOf(run: Run, value: number): number {
  const { length } = run;
  if (Number.isNaN(value)) return length;
  // Bounds treat both zeros as one number. -0 is before +0.
  return Object.is(value, 0) ? run.upperBound(0, 0, length) - 1 : run.lowerBound(value, 0, length);
}
