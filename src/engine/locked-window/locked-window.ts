import { Coalescer } from "../../base/async/coalescer.ts";
import { type Deferred, deferred } from "../../base/async/deferred.ts";
import { inMicrotask } from "../../base/async/gathering.ts";
import { OrielError } from "../../base/errors.ts";
import { randomU32 } from "../../base/random.ts";
import { runOuter, type Site, siteOf } from "../../base/site.ts";
import type { AnyLock } from "../../holds/lock/any-lock.ts";
import { Lock } from "../../holds/lock/lock.ts";
import { asCorrupt } from "../../store/as-corrupt.ts";
import type { Store } from "../../store/contract.ts";
import { keyOf } from "../../store/keys.ts";
import { register } from "../../store/registry/register.ts";
import { checkValue } from "../kernel/nan.ts";
import { contentOf, type LockedStats, lockedStatsOf, type WindowContent } from "./content.ts";
import {
  type AnnouncedWindow,
  type LockedWindowOptions,
  type LockedWindowSettings,
  lockedSettings,
  type Statistics,
} from "./options.ts";
import { type Mark, readWindow, writeWindow } from "./steps.ts";

/** The built-in numbers of a locked window and the caller's custom statistics. */
export type LockedAnswer<S extends Statistics> = LockedStats & { [Name in keyof S]: ReturnType<S[Name]> };

interface Waiting<S extends Statistics> {
  value: number;
  answer: Deferred<LockedAnswer<S>>;
}

const PREFIX = "sw_counter_bytes:";
const MAX_WAITING = 100_000;
const EVENT_BYTES = 12;

/**
 * A window in one Redis hash that is read, computed and written back under a lock (the third version of the published design).
 * Use it for data that other programs share as `timestamps` (i64) and `values` (f32), or for statistics that need all
 * values at once. Otherwise use `Series`: here every step transfers the whole window twice.
 * Columns of base64 text can be read too; the next write replaces them by bytes.
 *
 * The key is `sw_counter_bytes:{name}`, without the store's prefix. It expires after twice the span. Each step stores a
 * mark in the hash when it reads, and writes only if that mark is unchanged. So a hold whose lease has expired cannot
 * overwrite newer data.
 */
export class LockedWindow<S extends Statistics = Record<never, never>> {
  readonly #at: Site;
  readonly #store: Store;
  readonly #key: string;
  readonly #lock: AnyLock;
  readonly #settings: LockedWindowSettings;
  #isRunning = false;
  /** The end of a step flushes the calls that were made while it ran. */
  readonly #coalescer = new Coalescer<Waiting<S>[]>({
    schedule: (flush) => this.#isRunning || inMicrotask(flush),
    begin: () => [],
    send: (calls) => void this.#addAll(calls),
  });

  /** Throws ARGUMENT for an invalid name or option. Sends no request. */
  constructor(store: Store, name: string, options: LockedWindowOptions<S>) {
    this.#at = siteOf("LockedWindow", store, name);
    this.#settings = this.#at.checked(undefined, () => lockedSettings(options as LockedWindowOptions<Statistics>));
    this.#key = keyOf(PREFIX, name);
    this.#store = store;
    this.#lock = this.#settings.lock ?? this.#at.checked(undefined, () => new Lock(store, PREFIX + name));
    const { spanMs, closed } = this.#settings;
    const shared: AnnouncedWindow = { span: spanMs, closed };
    register(store, "LockedWindow", name, this, shared);
  }

  /**
   * Adds an event at the server's current time, removes expired events, and returns the statistics of the rest.
   * Calls made while a step runs are added together in the next step and get the same answer.
   * Cost: four round trips, and 24 bytes per event of the window.
   *
   * Rejects with DEADLINE if others held the lock for all of `wait`. Rejects with STALE if the lease expired before the
   * write and another hold has read or deleted the window since; then nothing was written. Rejects with TOO_LARGE above
   * `maxBytes`, CORRUPT if the key is not a window, ARGUMENT if the value is not finite as a float32, OVERLOADED if
   * 100 000 calls are waiting, or the store's error.
   * `applied` of the error says whether the event may count.
   */
  addAndGetStats(value: number): Promise<LockedAnswer<S>> {
    // Errors of the lock name this call as well.
    return runOuter(this.#at, "addAndGetStats", () => {
      checkValue(value, 0, "reject");
      const waiting = this.#coalescer.open();
      if (waiting.length >= MAX_WAITING)
        throw new OrielError("OVERLOADED", `${MAX_WAITING} calls are waiting, the maximum`, { transient: true });
      const answer = deferred<LockedAnswer<S>>();
      waiting.push({ value, answer });
      return answer.promise;
    });
  }

  /** Returns the same numbers without adding an event. Takes no lock. Cost: one round trip, 12 bytes per event. */
  stats(): Promise<LockedAnswer<S>> {
    return this.#at.run("stats", async () => this.#answerOf(await this.#read({ fence: 0, nonce: 0 }, [])), "no");
  }

  /** Never rejects: errors go to the callers. */
  async #addAll(calls: readonly Waiting<S>[]): Promise<void> {
    this.#isRunning = true;
    try {
      const stats = await this.#step(calls.map(({ value }) => value));
      for (const { answer } of calls) answer.resolve({ ...stats });
    } catch (error) {
      for (const { answer } of calls) answer.reject(error);
    }
    this.#isRunning = false;
    this.#coalescer.flush();
  }

  async #step(added: number[]): Promise<LockedAnswer<S>> {
    const { waitMs, leaseMs, spanMs, maxBytes } = this.#settings;
    const held = await this.#lock.tryLock({ wait: waitMs, lease: leaseMs });
    if (!held)
      throw new OrielError("DEADLINE", "others held the window's lock until the end of the wait", { transient: true });
    try {
      const mark = { fence: held.fence ?? 0, nonce: (randomU32() | 1) >>> 0 };
      const content = await this.#read(mark, added);
      const { length } = content.values;
      if (length * EVENT_BYTES > maxBytes)
        throw new OrielError(
          "TOO_LARGE",
          `the window has ${length} events of ${EVENT_BYTES} bytes; maxBytes is ${maxBytes}`,
        );
      const answer = this.#answerOf(content);
      const { times, values } = content;
      await this.#store.run(writeWindow, this.#key, { mark, times: bytesOf(times), values: bytesOf(values), spanMs });
      return answer;
    } finally {
      held.release().catch(() => false);
    }
  }

  async #read(mark: Mark, added: readonly number[]): Promise<WindowContent> {
    const { spanMs, closed, maxBytes } = this.#settings;
    try {
      const state = await this.#store.run(readWindow, this.#key, { mark, maxBytes, spanMs });
      return contentOf(state, spanMs, closed, added);
    } catch (error) {
      throw asCorrupt(this.#key, error);
    }
  }

  #answerOf(content: WindowContent): LockedAnswer<S> {
    const own: Record<string, unknown> = {};
    for (const [name, statistic] of Object.entries(this.#settings.statistics))
      own[name] = statistic(content.values, content.times);
    return { ...lockedStatsOf(content), ...own } as LockedAnswer<S>;
  }
}

function bytesOf(column: BigInt64Array | Float32Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}
