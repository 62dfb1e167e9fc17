import type { OrielError } from "../errors.ts";
import { Series } from "../series/series.ts";
import type { Store } from "../store/contract.ts";
import { latenciesNameOf, latencyStoreOf } from "./keys.ts";

interface Waiting {
  latenciesMs: number[];
  /** When they were told, by the monotonic clock. */
  atMs: number[];
}

/** An event may be on its way for so long after the window that it is asked for. */
const SLACK_MS = 60_000;
/** Of a name between two flushes; the older half of more is let go. */
const MOST_WAITING = 100_000;

/**
 * Every response time, in a series a name. What a store has refused (`applied: "no"`) is sent again; what it may have taken
 * is not.
 */
export class FleetLatencies {
  readonly #store: Store;
  readonly #name: string;
  readonly #intervalMs: number;
  readonly #series = new Map<string, Series>();
  #waiting = new Map<string, Waiting>();

  constructor(store: Store, name: string, intervalMs: number) {
    this.#store = latencyStoreOf(store);
    this.#name = name;
    this.#intervalMs = intervalMs;
  }

  add(name: string, latencyMs: number): void {
    let waiting = this.#waiting.get(name);
    if (!waiting) {
      waiting = { latenciesMs: [], atMs: [] };
      this.#waiting.set(name, waiting);
    }
    if (waiting.latenciesMs.length >= MOST_WAITING)
      for (const each of [waiting.latenciesMs, waiting.atMs]) each.splice(0, MOST_WAITING / 2);
    waiting.latenciesMs.push(latencyMs);
    waiting.atMs.push(this.#store.leaseClock());
  }

  /**
   * All series of one turn of the event loop travel together. What is in no window any more is let go. Gives the errors of
   * names whose series refused theirs, or did not answer.
   */
  async send(serverMs: (monotonicMs: number) => number): Promise<Map<string, unknown>> {
    const errors = new Map<string, unknown>();
    const all = [...this.#waiting];
    this.#waiting = new Map();
    const firstMs = serverMs(this.#store.leaseClock()) - this.#intervalMs;
    await Promise.all(
      all.map(async ([name, { latenciesMs, atMs }]) => {
        const at = atMs.map((each) => Math.floor(serverMs(each)));
        const first = at.findIndex((each) => each >= firstMs);
        if (first < 0) return;
        try {
          await this.#seriesOf(name).recordMany(latenciesMs.slice(first), { at: at.slice(first) });
        } catch (error) {
          if ((error as OrielError).applied === "no") this.#takeBack(name, latenciesMs.slice(first), atMs.slice(first));
          errors.set(name, error);
        }
      }),
    );
    return errors;
  }

  /** In front of what came meanwhile, as far as there is room. */
  #takeBack(name: string, latenciesMs: number[], atMs: number[]): void {
    const later = this.#waiting.get(name) ?? { latenciesMs: [], atMs: [] };
    this.#waiting.set(name, {
      latenciesMs: [...latenciesMs, ...later.latenciesMs].slice(-MOST_WAITING),
      atMs: [...atMs, ...later.atMs].slice(-MOST_WAITING),
    });
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
      series = new Series(this.#store, latenciesNameOf(this.#name, name), { retention: this.#intervalMs + SLACK_MS });
      this.#series.set(name, series);
    }
    return series;
  }
}
