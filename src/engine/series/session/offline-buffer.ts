import { OrielError } from "../../../base/errors.ts";
import type { Closed } from "../../../base/time.ts";
import type { Column } from "../../kernel/contract.ts";
import { bytesPerEvent } from "../../stats/segments/segment.ts";
import { Segments } from "../../stats/segments/segments.ts";
import type { Fold } from "../../stats/window-stats.ts";

/** Buffered events that are ready to be sent. */
export interface BufferedEvents {
  values: Column;
  times: Float64Array;
  /** Number of events beside these that became too old. */
  expired: number;
}

/**
 * Events recorded while the store is unreachable, bounded in bytes.
 *
 *   unsent      the store certainly lacks them.    They are sent when it is back.
 *   uncertain   the store may have them.           They are never sent, because they could count twice.
 *   rejected    the store refused them for good.   They are never sent.
 */
export class OfflineBuffer {
  readonly #valueType: number;
  readonly #maxBytes: number;
  #unsent!: Segments;
  #uncertain!: Segments;
  #rejected!: Segments;
  /** Latest time of an event that the store lacks, for now or for ever. */
  #missingUntilMs = Number.NEGATIVE_INFINITY;
  /** Latest time of an event that the store may lack for ever. */
  #lostUntilMs = Number.NEGATIVE_INFINITY;

  constructor(valueType: number, maxBytes: number) {
    this.#valueType = valueType;
    this.#maxBytes = maxBytes;
    this.clear();
  }

  /** Number of events that can still be sent. */
  get unsentCount(): number {
    return this.#unsent.count;
  }

  get #all(): readonly Segments[] {
    return [this.#unsent, this.#uncertain, this.#rejected];
  }

  get latestMs(): number {
    return this.#all.reduce((latest, events) => Math.max(latest, latestOf(events)), Number.NEGATIVE_INFINITY);
  }

  /**
   * Throws OVERLOADED, and buffers none of the events, if they exceed the bound. `isUnsent`: they have a server time, and
   * the store lacks them. `mayBeApplied`: the store may have them.
   */
  add(values: Column, times: number | Float64Array, isUnsent: boolean, mayBeApplied: boolean): void {
    const held = this.#all.reduce((sum, { count }) => sum + count, 0);
    const bytes = (held + values.length) * bytesPerEvent(this.#valueType);
    if (bytes > this.#maxBytes)
      throw new OrielError(
        "OVERLOADED",
        `the store is unreachable, and ${bytes} bytes of buffered events would exceed maxPendingBytes, ${this.#maxBytes}`,
        { transient: true, applied: mayBeApplied ? "unknown" : "no" },
      );
    const events = isUnsent ? this.#unsent : this.#uncertain;
    events.appendAll(values, times);
    this.#missingUntilMs = Math.max(this.#missingUntilMs, latestOf(events));
  }

  collect(fold: Pick<Fold, "add">, fromMs: number, toMs: number, closed: Closed): void {
    for (const events of this.#all) for (const segment of events.list) segment.collect(fold, fromMs, toMs, closed);
  }

  /** Drops events before `ms`, which are in no window any more. Returns how many of them could still have been sent. */
  dropBefore(ms: number): number {
    const { count } = this.#unsent;
    for (const events of this.#all) events.dropBefore(ms);
    return count - this.#unsent.count;
  }

  /** Takes out the oldest segment of unsent events, without those before `sinceMs`; undefined if no event is unsent. */
  shift(sinceMs: number): BufferedEvents | undefined {
    const segment = this.#unsent.shift();
    if (!segment) return undefined;
    const inside: number[] = [];
    for (let i = 0; i < segment.count; i++)
      if (segment.timeAt(i) >= sinceMs) inside.push(i);
      else this.#lose(segment.timeAt(i));
    const values = segment.values.slice(0, inside.length);
    for (const [at, i] of inside.entries()) values[at] = segment.values[i]!;
    const times = Float64Array.from(inside, (i) => segment.timeAt(i));
    return { values, times, expired: segment.count - inside.length };
  }

  /** Puts back events that could not be sent yet. They fitted before. */
  putBack({ values, times }: BufferedEvents): void {
    this.#unsent.appendAll(values, times);
  }

  /** Keeps events that the store refuses for this process's offline answers. */
  reject({ values, times }: BufferedEvents): void {
    this.#rejected.appendAll(values, times);
    this.#lose(latestOf(this.#rejected));
  }

  #lose(untilMs: number): void {
    this.#lostUntilMs = Math.max(this.#lostUntilMs, untilMs);
  }

  /** Drops the uncertain events once the store is back. The store counts those that it has. */
  dropUncertain(): void {
    this.#lose(latestOf(this.#uncertain));
    this.#uncertain = new Segments(this.#valueType);
  }

  /** Called when every event that can be sent was sent. */
  settle(): void {
    this.#missingUntilMs = this.#lostUntilMs;
  }

  clear(): void {
    this.#unsent = new Segments(this.#valueType);
    this.#uncertain = new Segments(this.#valueType);
    this.#rejected = new Segments(this.#valueType);
    this.#lostUntilMs = Number.NEGATIVE_INFINITY;
    this.settle();
  }

  /** Whether the store's answer for a window from `fromMs` may lack a buffered event. */
  reaches(fromMs: number): boolean {
    return fromMs < this.#missingUntilMs;
  }
}

function latestOf({ list }: Segments): number {
  return list.reduce((latest, segment) => Math.max(latest, segment.latestMs), Number.NEGATIVE_INFINITY);
}
