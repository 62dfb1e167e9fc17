import { OrielError } from "../../errors.ts";
import type { Column } from "../../kernel/contract.ts";
import type { Fold } from "../../stats/segments/fold.ts";
import { bytesPerEvent } from "../../stats/segments/segment.ts";
import { Segments } from "../../stats/segments/segments.ts";
import type { Closed } from "../../time.ts";

/** Events to hand in. */
export interface Stretch {
  values: Column;
  times: Float64Array;
  /** How many more there were, which are too old. */
  expired: number;
}

/**
 * Events that a process keeps to itself because its store was out of reach, bounded in bytes. Of `sure` ones it is
 * certain that the store does not have them: they are handed in when it is back. The others it may have: to hand them
 * in could count them twice.
 */
export class Kept {
  readonly #valueType: number;
  readonly #maxBytes: number;
  #sure: Segments;
  #unsure: Segments;
  /** The store refused them for good. */
  #refused: Segments;
  /** Latest of those that the store does not have yet, or may never have. */
  #reachMs = -Infinity;
  /** Latest of those that it may never have. */
  #lackingUntilMs = -Infinity;

  constructor(valueType: number, maxBytes: number) {
    this.#valueType = valueType;
    this.#maxBytes = maxBytes;
    this.#sure = new Segments(valueType);
    this.#unsure = new Segments(valueType);
    this.#refused = new Segments(valueType);
  }

  /** How many could be handed in. */
  get sureCount(): number {
    return this.#sure.count;
  }

  get #all(): readonly Segments[] {
    return [this.#sure, this.#unsure, this.#refused];
  }

  get latestMs(): number {
    return this.#all.reduce((latest, events) => Math.max(latest, latestOf(events)), -Infinity);
  }

  /** OVERLOADED, and nothing kept, where there is no room for all of them. */
  add(values: Column, times: number | Float64Array, isSure: boolean, mayBeApplied: boolean): void {
    const held = this.#all.reduce((sum, { count }) => sum + count, 0);
    const bytes = (held + values.length) * bytesPerEvent(this.#valueType);
    if (bytes > this.#maxBytes)
      throw new OrielError(
        "OVERLOADED",
        `the store is out of reach, and ${bytes} bytes of events kept meanwhile would pass maxPendingBytes, ${this.#maxBytes}`,
        { transient: true, applied: mayBeApplied ? "unknown" : "no" },
      );
    const events = isSure ? this.#sure : this.#unsure;
    events.appendAll(values, times);
    this.#reachMs = Math.max(this.#reachMs, latestOf(events));
  }

  collect(fold: Fold, fromMs: number, toMs: number, closed: Closed): void {
    for (const events of this.#all) for (const segment of events.list) segment.collect(fold, fromMs, toMs, closed);
  }

  /** Drops what is in no window any more; returns how many of those that are not in the store. */
  dropBefore(ms: number): number {
    const { count } = this.#sure;
    for (const events of this.#all) events.dropBefore(ms);
    return count - this.#sure.count;
  }

  /** Takes out the oldest stretch to hand in, and how many of it are older than `sinceMs`, which it leaves out; undefined when none is left. */
  shift(sinceMs: number): Stretch | undefined {
    const segment = this.#sure.shift();
    if (!segment) return undefined;
    const inside: number[] = [];
    for (let i = 0; i < segment.count; i++)
      if (segment.timeAt(i) >= sinceMs) inside.push(i);
      else this.lack(segment.timeAt(i));
    const values = segment.values.slice(0, inside.length);
    for (let i = 0; i < inside.length; i++) values[i] = segment.values[inside[i]];
    const times = Float64Array.from(inside, (i) => segment.timeAt(i));
    return { values, times, expired: segment.count - inside.length };
  }

  /** What could not be handed in yet; there was room for it before. */
  putBack({ values, times }: Stretch): void {
    this.#sure.appendAll(values, times);
  }

  /** What the store will never accept stays in this process's own answers while the store is away. */
  giveUp({ values, times }: Stretch): void {
    this.#refused.appendAll(values, times);
    this.lack(latestOf(this.#refused));
  }

  /** The store never gets what is up to this. */
  lack(untilMs: number): void {
    this.#lackingUntilMs = Math.max(this.#lackingUntilMs, untilMs);
  }

  /** The store is back: it counts those that it may have, and nobody the others. */
  forgetUnsure(): void {
    this.lack(latestOf(this.#unsure));
    this.#unsure = new Segments(this.#valueType);
  }

  /** All that could be was handed in. */
  settle(): void {
    this.#reachMs = this.#lackingUntilMs;
  }

  clear(): void {
    this.#sure = new Segments(this.#valueType);
    this.#unsure = new Segments(this.#valueType);
    this.#refused = new Segments(this.#valueType);
    this.#lackingUntilMs = -Infinity;
    this.settle();
  }

  /** Whether the store's answer for a window from `fromMs` may lack some of them. */
  reaches(fromMs: number): boolean {
    return fromMs < this.#reachMs;
  }
}

function latestOf({ list }: Segments): number {
  return list.reduce((latest, segment) => Math.max(latest, segment.latestMs), -Infinity);
}
