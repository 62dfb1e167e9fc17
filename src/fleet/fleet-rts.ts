import type { Store } from "../store/contract.ts";
import { Series } from "../window/series.ts";

interface Waiting {
  rtsMs: number[];
  /** When they were told, by the monotonic clock. */
  atMs: number[];
}

/** An event may be on its way for so long after the window that it is asked for. */
const SLACK_MS = 60_000;
/** Of a name between two flushes; the older half of more is let go. */
const MOST_WAITING = 100_000;

/** Every response time, in a series a name. What a store refuses, or does not answer for, is not sent again. */
export class FleetRts {
  readonly #store: Store;
  readonly #name: string;
  readonly #intervalMs: number;
  readonly #series = new Map<string, Series>();
  #waiting = new Map<string, Waiting>();

  constructor(store: Store, name: string, intervalMs: number) {
    this.#store = store;
    this.#name = name;
    this.#intervalMs = intervalMs;
  }

  add(name: string, rtMs: number): void {
    let waiting = this.#waiting.get(name);
    if (!waiting) {
      waiting = { rtsMs: [], atMs: [] };
      this.#waiting.set(name, waiting);
    }
    if (waiting.rtsMs.length === MOST_WAITING)
      for (const each of [waiting.rtsMs, waiting.atMs]) each.splice(0, MOST_WAITING / 2);
    waiting.rtsMs.push(rtMs);
    waiting.atMs.push(this.#store.leaseClock());
  }

  /** All series of one turn of the event loop travel together. What is in no window any more is let go. */
  async send(serverMs: (monotonicMs: number) => number): Promise<void> {
    const all = [...this.#waiting];
    this.#waiting = new Map();
    const firstMs = serverMs(this.#store.leaseClock()) - this.#intervalMs;
    await Promise.all(
      all.map(([name, { rtsMs, atMs }]) => {
        const at = atMs.map((each) => Math.floor(serverMs(each)));
        const first = at.findIndex((each) => each >= firstMs);
        return first < 0 || this.#seriesOf(name).recordMany(rtsMs.slice(first), { at: at.slice(first) });
      }),
    );
  }

  /** NaN each, without any. */
  async percentiles(name: string, percentiles: readonly number[]): Promise<number[]> {
    const stats = await this.#seriesOf(name).stats({ span: this.#intervalMs, percentiles });
    return percentiles.map((each) => stats.percentiles[each]!);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#series.values()].map((series) => series.close()));
  }

  #seriesOf(name: string): Series {
    let series = this.#series.get(name);
    if (!series) {
      series = new Series(this.#store, `${this.#name}:rt:${name}`, { retention: this.#intervalMs + SLACK_MS });
      this.#series.set(name, series);
    }
    return series;
  }
}
