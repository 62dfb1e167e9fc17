import type { OrielError } from "../../base/errors.ts";
import { Series } from "../../engine/series/series.ts";
import type { Store } from "../../store/contract.ts";
import { latenciesNameOf, latencyStoreOf } from "./keys.ts";

interface Waiting {
  latenciesMs: number[];
  /** When they were recorded, by the monotonic clock. */
  atMs: number[];
}

/** Retention beyond the interval: an event may arrive this late. */
const RETENTION_SLACK_MS = 60_000;
/** Maximum response times per name between two flushes. Above it the older half is dropped. */
const MAX_WAITING = 100_000;

/**
 * Records every response time in one series per name. A batch that the store refused (`applied: "no"`) is sent again. A
 * batch that the store may have recorded is not.
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
    if (waiting.latenciesMs.length >= MAX_WAITING)
      for (const each of [waiting.latenciesMs, waiting.atMs]) each.splice(0, MAX_WAITING / 2);
    waiting.latenciesMs.push(latencyMs);
    waiting.atMs.push(this.#store.leaseClock());
  }

  /**
   * Sends the collected response times; all series of one turn share a round trip. Times outside every window are
   * dropped. Returns the errors of names whose series refused them or did not answer.
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

  /** Puts them back in front of newer times, as far as there is room. */
  #takeBack(name: string, latenciesMs: number[], atMs: number[]): void {
    const later = this.#waiting.get(name) ?? { latenciesMs: [], atMs: [] };
    this.#waiting.set(name, {
      latenciesMs: [...latenciesMs, ...later.latenciesMs].slice(-MAX_WAITING),
      atMs: [...atMs, ...later.atMs].slice(-MAX_WAITING),
    });
  }

  /** Returns NaN for each percentile if there are no response times. */
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
      series = new Series(this.#store, latenciesNameOf(this.#name, name), {
        retention: this.#intervalMs + RETENTION_SLACK_MS,
      });
      this.#series.set(name, series);
    }
    return series;
  }
}
