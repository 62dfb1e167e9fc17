import type { Row } from "../row.ts";

/** Maximum points of a key. Above it each two neighbours become one, repeatedly. Even, so that pairs stay aligned. */
const MAX_POINTS = 4000;
const MAX_KEYS = 200;

export interface KeyPoints {
  readonly key: string | null;
  readonly eventCount: number;
  /** In the order of time. Of each `stride` windows, the one with the largest percentile. */
  readonly rows: readonly Row[];
  readonly stride: number;
}

interface Growing extends KeyPoints {
  eventCount: number;
  rows: Row[];
  stride: number;
  seen: number;
}

/** The rows kept for a picture, bounded in points and in keys. */
export class PlotPoints {
  readonly #keys = new Map<string | null, Growing>();
  #isFull = false;

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const points = this.#keys.get(row.key) ?? this.#begin(row.key);
      if (points === null) continue;
      points.eventCount += row.count;
      const last = points.rows.length - 1;
      if (points.seen++ % points.stride !== 0) points.rows[last] = higher(points.rows[last] as Row, row);
      else points.rows.push(row);
      if (points.rows.length <= MAX_POINTS) continue;
      points.rows = merged(points.rows, 2);
      points.stride *= 2;
    }
  }

  /** The `count` keys with the most events, in the order of their names, and the minimum number of others. */
  busiest(count: number): { panels: KeyPoints[]; leftOutCount: number } {
    const all = [...this.#keys.values()].sort((a, b) => b.eventCount - a.eventCount);
    const panels = all.slice(0, count).sort((a, b) => ((a.key ?? "") < (b.key ?? "") ? -1 : 1));
    return { panels, leftOutCount: all.length - panels.length + (this.#isFull ? 1 : 0) };
  }

  #begin(key: string | null): Growing | null {
    if (this.#keys.size >= MAX_KEYS) {
      this.#isFull = true;
      return null;
    }
    const points: Growing = { key, eventCount: 0, rows: [], stride: 1, seen: 0 };
    this.#keys.set(key, points);
    return points;
  }
}

/** At most `maxCount` points. A peak stays, because of neighbours the one with the largest percentile is kept. */
export function thinned(points: KeyPoints, maxCount: number): KeyPoints {
  const factor = Math.ceil(points.rows.length / maxCount);
  return factor <= 1 ? points : { ...points, rows: merged(points.rows, factor), stride: points.stride * factor };
}

function merged(rows: readonly Row[], factor: number): Row[] {
  const kept: Row[] = [];
  for (const [index, row] of rows.entries())
    if (index % factor === 0) kept.push(row);
    else kept[kept.length - 1] = higher(kept.at(-1) as Row, row);
  return kept;
}

function higher(one: Row, other: Row): Row {
  return peakOf(other) > peakOf(one) ? other : one;
}

/** -Infinity for a window without events. */
function peakOf({ percentiles }: Row): number {
  return Math.max(...percentiles.filter(Number.isFinite));
}
