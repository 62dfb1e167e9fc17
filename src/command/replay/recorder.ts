import { OrielError } from "../../base/errors.ts";
import { type PercentileMethod, Series, type Store } from "../../entries/index.ts";
import { quoted } from "../formats/outcome.ts";
import type { Reading } from "../formats/reading.ts";
import type { Row } from "../row.ts";
import { oneLine } from "../text/safe-text.ts";
import type { ReplayOptions } from "./options.ts";

/** Maximum open series, and maximum events that wait to be recorded. */
const MAX_KEYS = 10_000;
const MAX_PENDING = 8192;
const MAX_AT_ONCE = 256;
/** A frame keeps its times as 32-bit offsets from the first. */
const MAX_FRAME_MS = 2 ** 32 - 1;
/** Errors of one series. A replay goes on without its key. Others belong to the server, and end it. */
const OF_ONE_SERIES = ["CORRUPT", "MISMATCH", "TOO_LARGE"];

interface KeyedSeries {
  readonly key: string | null;
  readonly series: Series;
  earliestMs: number;
  latestMs: number;
  atMs: number[];
  values: number[];
  /** Why the series takes no more events and has no more rows. */
  fault?: string;
}

/** One series per key, on the event clock. Events wait until `flush`, which must precede `rows`. */
export class Recorder {
  readonly #store: Store;
  readonly #options: ReplayOptions;
  readonly #keys = new Map<string | null, KeyedSeries>();
  #pendingCount = 0;
  #refusedCount = 0;
  readonly skipped = new SkippedKeys();

  constructor(store: Store, options: ReplayOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Events that the store found too old for its retention (another writer of the series is ahead) or too far ahead. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  get isFull(): boolean {
    return this.#pendingCount >= MAX_PENDING;
  }

  /** Queries an empty window, so that a wrong argument or an unreachable store fails before the first line is read. */
  async probe(): Promise<void> {
    const series = this.#open(null);
    try {
      await series.stats(this.#query());
    } catch (error) {
      // With --key no event goes to this series.
      if (this.#options.selection.key === undefined || !isOfOneSeries(error)) throw error;
    } finally {
      await series.close();
    }
  }

  /** Takes an event. Returns null, or why the event cannot be recorded. */
  add(reading: Reading): string | null {
    const keyed = this.#keyed(reading);
    if (typeof keyed === "string") return keyed;
    if (keyed.fault !== undefined) {
      this.skipped.add(1);
      return null;
    }
    keyed.atMs.push(reading.atMs);
    keyed.values.push(reading.value);
    keyed.latestMs = Math.max(keyed.latestMs, reading.atMs);
    this.#pendingCount += 1;
    return null;
  }

  /** Registers a key at the time of an event that no window covers. Returns the reason if it cannot, else null. */
  announce(reading: Reading): string | null {
    const keyed = this.#keyed(reading);
    return typeof keyed === "string" ? keyed : null;
  }

  async flush(): Promise<void> {
    if (this.#pendingCount === 0) return;
    this.#pendingCount = 0;
    await this.#each(async (keyed) => {
      const { atMs, values } = keyed;
      if (atMs.length === 0) return;
      keyed.atMs = [];
      keyed.values = [];
      await this.#record(keyed, atMs, values);
    });
  }

  /** The window that ends at `endMs`, for each series with events in it (with `empty`: for each that began before). */
  async rows(endMs: number): Promise<Row[]> {
    const { empty, spanMs } = this.#options;
    const rows: Row[] = [];
    await this.#each(async (keyed) => {
      if (keyed.earliestMs > endMs) return;
      if (!empty && keyed.latestMs < endMs - spanMs) return;
      if (keyed.fault !== undefined) return;
      const row = await this.#row(keyed, endMs).catch((error) => this.#fail(keyed, error, 0));
      if (row && (empty || row.count > 0)) rows.push(row);
    });
    return rows.sort((a, b) => compare(a.key ?? "", b.key ?? ""));
  }

  /** Drops the series that no window from `endMs` on needs, so that memory stays bounded when keys keep changing. */
  async forget(endMs: number): Promise<void> {
    if (this.#options.empty || this.#keys.size < MAX_KEYS / 2) return;
    await this.#each(async (keyed) => {
      // A series with a fault stays known, so that it is reported once.
      if (keyed.fault !== undefined || keyed.atMs.length > 0 || keyed.latestMs >= endMs - this.#options.spanMs) return;
      this.#keys.delete(keyed.key);
      await keyed.series.close();
    });
  }

  async close(): Promise<void> {
    await this.#each((keyed) => keyed.series.close());
    this.#keys.clear();
  }

  /** The series of the event's key, or the reason why there is none. */
  #keyed({ key, atMs }: Reading): KeyedSeries | string {
    const known = this.#keys.get(key);
    if (known !== undefined) {
      known.earliestMs = Math.min(known.earliestMs, atMs);
      return known;
    }
    if (this.#keys.size >= MAX_KEYS) return "there are too many keys";
    try {
      const series = this.#open(key);
      const keyed = { key, series, earliestMs: atMs, latestMs: Number.NEGATIVE_INFINITY, atMs: [], values: [] };
      this.#keys.set(key, keyed);
      return keyed;
    } catch (error) {
      if (!(error instanceof OrielError) || error.code !== "ARGUMENT") throw error;
      return `the key ${quoted(key ?? "")} is not the name of a series: it is too long, or not text`;
    }
  }

  #open(key: string | null): Series {
    const { name, retentionMs, values } = this.#options;
    const fullName = key === null ? name : `${name}:${key}`;
    return new Series(this.#store, fullName, { retention: retentionMs, values, clock: "event" });
  }

  /**
   * Records events as one frame. A frame with an event that is too old is refused as a whole. Halving finds that event
   * and records the others. Events that exceed a frame are halved first, so a refusal has never written anything.
   */
  async #record(keyed: KeyedSeries, atMs: readonly number[], values: readonly number[]): Promise<void> {
    if (keyed.fault !== undefined) return this.skipped.add(atMs.length);
    if (rangeMs(atMs) <= MAX_FRAME_MS) {
      try {
        await keyed.series.recordMany(values, { at: atMs });
        return;
      } catch (error) {
        const isOneEvent = error instanceof OrielError && (error.code === "LATE" || error.code === "EARLY");
        if (!isOneEvent) return this.#fail(keyed, error, atMs.length);
      }
      if (atMs.length === 1) {
        this.#refusedCount += 1;
        return;
      }
    }
    const half = atMs.length >> 1;
    await this.#record(keyed, atMs.slice(0, half), values.slice(0, half));
    await this.#record(keyed, atMs.slice(half), values.slice(half));
  }

  /** Goes on without the key, and without the events of it that were not recorded. Throws an error of the server. */
  #fail(keyed: KeyedSeries, error: unknown, eventCount: number): undefined {
    if (keyed.key === null || !isOfOneSeries(error)) throw error;
    keyed.fault = `${error.code} ${error.message}`;
    this.skipped.addKey(keyed.key, keyed.fault);
    this.skipped.add(eventCount);
  }

  async #row({ key, series }: KeyedSeries, endMs: number): Promise<Row> {
    const { percentiles } = this.#options;
    const stats = await series.stats({ ...this.#query(), at: endMs });
    const { count, sum, mean, min, max, std, degraded } = stats;
    const list = percentiles.map((percentile) => stats.percentiles[percentile] ?? Number.NaN);
    return { endMs, key, count, sum, mean, min, max, std, percentiles: list, degraded };
  }

  #query() {
    const { spanMs, percentiles, method, closed } = this.#options;
    return { span: spanMs, percentiles, method: method as PercentileMethod, closed };
  }

  async #each(act: (keyed: KeyedSeries) => Promise<void>): Promise<void> {
    const all = [...this.#keys.values()];
    for (let from = 0; from < all.length; from += MAX_AT_ONCE) {
      await Promise.all(all.slice(from, from + MAX_AT_ONCE).map(act));
    }
  }
}

function isOfOneSeries(error: unknown): error is OrielError {
  return error instanceof OrielError && OF_ONE_SERIES.includes(error.code);
}

function rangeMs(atMs: readonly number[]): number {
  return (
    atMs.reduce((latest, at) => Math.max(latest, at), Number.NEGATIVE_INFINITY) -
    atMs.reduce((earliest, at) => Math.min(earliest, at), Number.POSITIVE_INFINITY)
  );
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const MAX_SHOWN = 5;

/** Keys whose series failed, such as one with foreign bytes, and the number of their events that were not recorded. */
class SkippedKeys {
  readonly #reasons = new Map<string, string>();
  #eventCount = 0;

  addKey(key: string, reason: string): void {
    this.#reasons.set(key, reason);
  }

  add(eventCount: number): void {
    this.#eventCount += eventCount;
  }

  get count(): number {
    return this.#reasons.size;
  }

  /** One line for each of the first keys, then the number of others. Empty without any. */
  text(): string {
    const lines = [...this.#reasons]
      .slice(0, MAX_SHOWN)
      .map(([key, reason]) => `oriel: the key ${quoted(key)} is skipped: ${oneLine(reason)}\n`);
    const more = this.count - lines.length;
    return lines.join("") + (more > 0 ? `oriel: and ${more} more ${more === 1 ? "key" : "keys"}\n` : "");
  }

  /** For the summary. Empty without any. */
  summary(): string[] {
    if (this.count === 0) return [];
    const [events, keys] = [this.#eventCount === 1 ? "event" : "events", this.count === 1 ? "key" : "keys"];
    return [`${this.#eventCount} ${events} of ${this.count} skipped ${keys}`];
  }
}
