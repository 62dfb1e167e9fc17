import { argumentError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { gathering } from "../store/gathering.ts";
import { Calendar } from "./buckets.ts";
import { Cells } from "./cells.ts";
import { layoutText, shardKeys } from "./layout.ts";
import { type CountersOptions, type CountersSettings, countersSettings } from "./options.ts";
import { Producer } from "./producer.ts";

export interface AddOptions {
  /** How many: a whole number from 1 to 2^53 - 1; default 1. */
  count?: number;
  /** When, ms since 1970; default now, by this process's clock. */
  at?: number;
}

const MINUTE_MS = 60_000;
const MOST_WAITING_ROWS = 2_000_000;
const LATEST_MS = 8.64e15;

/**
 * Counts events by minute, hour and day and by values of named dimensions, exactly, for any number of processes. Counts
 * lie in shards, each one key of the store; `DrainService` moves them into a SQL table.
 *
 * `add` sums up in the process what comes in one turn, and while a batch is under way, and resolves when the store has it:
 * acknowledged, an event counts once, whatever was sent again; rejected, once or not at all (`applied` "unknown").
 */
export class Counters {
  readonly name: string;
  readonly #store: Store;
  readonly #settings: CountersSettings;
  readonly #cells: Cells;
  readonly #calendar: Calendar;
  readonly #producers: readonly Producer[];
  readonly #now: () => number;
  #dirty: Producer[] = [];
  #lastMinute = Number.NaN;
  #lastStart = 0;

  /** Throws ARGUMENT for a wrong name or option. Nothing is sent yet. */
  constructor(store: Store, name: string, options: CountersOptions) {
    this.#settings = countersSettings(options);
    const { dimensions, buckets, timeZone, shards, replicas, onLost } = this.#settings;
    this.name = name;
    this.#store = store;
    this.#cells = new Cells(dimensions, shards);
    this.#calendar = new Calendar(timeZone);
    this.#now = Date.now;
    const layout = layoutText(shards, buckets[0]!, timeZone, dimensions);
    this.#producers = shardKeys(store, name, shards).map(
      (key) =>
        new Producer({ store, key, layout, replicas, now: store.monotonic, onLost: (total) => onLost({ total }) }),
    );
  }

  /** Counts an event, or `count` alike. `values`: one string for each dimension. */
  add(values: Readonly<Record<string, string>>, options?: AddOptions): Promise<void> {
    try {
      const count = options?.count ?? 1;
      if (!Number.isSafeInteger(count) || count < 1)
        throw argumentError("count", count, "a whole number from 1 to 2^53 - 1");
      const startMinute = this.#startOf(options?.at ?? this.#now());
      const cell = this.#cells.of(values);
      const producer = this.#producers[cell.shard]!;
      const batch = producer.batchFor(count);
      if (batch.total === 0) this.#wake(producer);
      batch.add(cell, startMinute, count);
      return batch.counted;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #startOf(at: number): number {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute === this.#lastMinute) return this.#lastStart;
    if (!(Math.abs(at) <= LATEST_MS)) throw argumentError("at", at, "ms since 1970, up to 8.64e15");
    this.#lastMinute = minute;
    this.#lastStart = this.#calendar.startOf(this.#settings.buckets[0]!, minute);
    return this.#lastStart;
  }

  #wake(producer: Producer): void {
    if (producer.isSending) return;
    if (this.#dirty.length === 0) gathering().then(this.#sendAll);
    this.#dirty.push(producer);
  }

  readonly #sendAll = () => {
    const dirty = this.#dirty;
    this.#dirty = [];
    for (const producer of dirty) producer.send();
  };
}
