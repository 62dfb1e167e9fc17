import type { PercentileMethod } from "../../src/engine/kernel/percentile/percentile.ts";
import { percentileByHand } from "../stats/oracle.ts";

export type Kind = "success" | "failure" | "allowed" | "denied" | "latencySumMs";

interface Logged {
  kind: Kind;
  startMs: number;
  /** A count, or a latency in ms. */
  amount: number;
}

/**
 * The law of a window of metrics, applied literally to a log of every event, without a ring. The first touch of a bucket a
 * whole number of intervals later erases a bucket. Later events for it are late.
 */
export class MetricLog {
  readonly events: Logged[] = [];
  readonly touched = new Set<number>();
  lateCount = 0;
  readonly lengthMs: number;
  readonly intervalMs: number;
  readonly mode: "exact" | "sentinel";

  constructor(lengthMs: number, intervalMs: number, mode: "exact" | "sentinel") {
    this.lengthMs = lengthMs;
    this.intervalMs = intervalMs;
    this.mode = mode;
  }

  startOf(timeMs: number): number {
    return Math.floor(timeMs / this.lengthMs) * this.lengthMs;
  }

  add(kind: Kind, amount: number, timeMs: number): void {
    const startMs = this.startOf(timeMs);
    if (startMs < 0 || this.isErased(startMs)) {
      this.lateCount++;
      return;
    }
    this.touched.add(startMs);
    this.events.push({ kind, amount, startMs });
  }

  /** Sentinel's reads begin by asking for the current bucket. */
  touch(timeMs: number): void {
    if (timeMs >= 0 && !this.isErased(this.startOf(timeMs))) this.touched.add(this.startOf(timeMs));
  }

  /** Amounts of the events that count at `nowMs` in a window of `spanMs`; "exact": nothing from after now's bucket. */
  amounts(kind: Kind, nowMs: number, spanMs = this.intervalMs): number[] {
    return this.live(nowMs, spanMs)
      .filter((event) => event.kind === kind)
      .map((event) => event.amount);
  }

  live(nowMs: number, spanMs = this.intervalMs): Logged[] {
    if (this.mode === "sentinel") this.touch(nowMs);
    return this.events.filter(({ startMs }) => !this.isErased(startMs) && this.counts(startMs, nowMs, spanMs));
  }

  counts(startMs: number, nowMs: number, spanMs = this.intervalMs): boolean {
    if (this.mode === "sentinel" && spanMs === this.intervalMs) return nowMs - startMs <= this.intervalMs;
    const lastMs = this.startOf(nowMs);
    return lastMs - spanMs < startMs && startMs <= lastMs;
  }

  percentile(p: number, method: PercentileMethod, nowMs: number): number {
    const sorted = this.amounts("latencySumMs", nowMs).sort((a, b) => a - b);
    return sorted.length === 0 ? Number.NaN : percentileByHand(sorted, p, method);
  }

  isErased(startMs: number): boolean {
    for (const other of this.touched) if (other > startMs && (other - startMs) % this.intervalMs === 0) return true;
    return false;
  }
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
