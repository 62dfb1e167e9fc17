import type { Row } from "../row.ts";

/** Maximum points of a picture. Above it every second point is dropped, repeatedly. */
const MAX_POINTS = 4000;
const MAX_KEYS = 200;

export interface KeyPoints {
  readonly key: string | null;
  eventCount: number;
  /** In the order of time; every `stride`-th window. */
  rows: Row[];
  stride: number;
  seen: number;
}

/** The rows kept for a picture, bounded in points and in keys. */
export class PlotPoints {
  readonly #keys = new Map<string | null, KeyPoints>();
  #isFull = false;

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const points = this.#keys.get(row.key) ?? this.#begin(row.key);
      if (points === null) continue;
      points.eventCount += row.count;
      if (points.seen++ % points.stride !== 0) continue;
      points.rows.push(row);
      if (points.rows.length <= MAX_POINTS) continue;
      points.rows = points.rows.filter((_, index) => index % 2 === 0);
      points.stride *= 2;
    }
  }

  /** The `count` keys with the most events, in the order of their names, and the minimum number of others. */
  busiest(count: number): { panels: KeyPoints[]; leftOutCount: number } {
    const all = [...this.#keys.values()].sort((a, b) => b.eventCount - a.eventCount);
    const panels = all.slice(0, count).sort((a, b) => ((a.key ?? "") < (b.key ?? "") ? -1 : 1));
    return { panels, leftOutCount: all.length - panels.length + (this.#isFull ? 1 : 0) };
  }

  #begin(key: string | null): KeyPoints | null {
    if (this.#keys.size >= MAX_KEYS) {
      this.#isFull = true;
      return null;
    }
    const points: KeyPoints = { key, eventCount: 0, rows: [], stride: 1, seen: 0 };
    this.#keys.set(key, points);
    return points;
  }
}
