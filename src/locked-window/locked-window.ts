import { OrielError } from "../errors.ts";
import { Lock } from "../lock/lock.ts";
import { type Place, placeOf } from "../place.ts";
import { randomU32 } from "../random.ts";
import { checkValue } from "../stats/values.ts";
import { asCorrupt } from "../store/as-corrupt.ts";
import type { Store } from "../store/contract.ts";
import { keyOf } from "../store/keys.ts";
import type { Mark } from "./locked-columns.ts";
import {
  type LockedWindowOptions,
  type LockedWindowSettings,
  lockedSettings,
  type Statistics,
} from "./locked-options.ts";
import { lockedRead } from "./locked-read.ts";
import { contentOf, type LockedContent, type LockedStats, lockedStatsOf } from "./locked-step.ts";
import { lockedWrite } from "./locked-write.ts";

/** A locked window's numbers, and the caller's own. */
export type LockedAnswer<S extends Statistics> = LockedStats & { [Name in keyof S]: ReturnType<S[Name]> };

interface Waiting<S extends Statistics> {
  value: number;
  resolve(answer: LockedAnswer<S>): void;
  reject(error: unknown): void;
}

const PREFIX = "sw_counter_bytes:";
const MOST_WAITING = 100_000;
const EVENT_BYTES = 12;

/**
 * A window that lies in one hash, whole, and is read, computed and written back under a lock (document 1's third
 * version): for data that other programs share as `timestamps` (i64) and `values` (f32), and for statistics that need all
 * values at once. What is stored as base64 text is read too, and replaced by bytes. Everything else is what `Series` does
 * better: here every step moves the whole window twice.
 *
 * The key is `sw_counter_bytes:{name}`, whatever the store's prefix; it expires after twice the span. Each step leaves its
 * hold's mark in the hash and is written only while that mark stands: a lease that ran out overwrites nothing newer.
 */
export class LockedWindow<S extends Statistics = Record<never, never>> {
  readonly #at: Place;
  readonly #failedToAdd: (error: unknown) => never;
  readonly #store: Store;
  readonly #key: string;
  readonly #lock: Lock;
  readonly #settings: LockedWindowSettings;
  #waiting: Waiting<S>[] = [];
  #isRunning = false;

  /** Throws ARGUMENT for a wrong name or option. Nothing is sent yet. */
  constructor(store: Store, name: string, options: LockedWindowOptions<S>) {
    this.#at = placeOf("LockedWindow", store, name);
    // What the lock rejects with is told from here too.
    this.#failedToAdd = (error) => {
      throw this.#at.outer("addAndGetStats", error);
    };
    this.#settings = this.#at.checked(undefined, () => lockedSettings(options as LockedWindowOptions<Statistics>));
    this.#key = keyOf(PREFIX, name);
    this.#store = store;
    this.#lock = this.#at.checked(undefined, () => new Lock(store, PREFIX + name));
  }

  /**
   * Adds an event at the server's now, removes what is too old, and answers for the rest. Calls made while a step is under
   * way are added together by the next one and answered alike. Four round trips and 24 bytes an event of the window.
   *
   * Rejects with DEADLINE where others held the lock until `wait` was over, STALE where the lease ran out before the
   * window was written (nothing was), TOO_LARGE, CORRUPT for what is no window, ARGUMENT for a value that is not finite as
   * a float32, OVERLOADED for more than 100 000 waiting calls, and as the store does; `applied` tells whether it may count.
   */
  addAndGetStats(value: number): Promise<LockedAnswer<S>> {
    try {
      checkValue(value, 0, "reject");
    } catch (error) {
      return Promise.reject(this.#at.error("addAndGetStats", error));
    }
    if (this.#waiting.length >= MOST_WAITING) {
      const full = new OrielError("OVERLOADED", `${MOST_WAITING} calls wait already`, { transient: true });
      return Promise.reject(this.#at.error("addAndGetStats", full));
    }
    const answer = new Promise<LockedAnswer<S>>((resolve, reject) => this.#waiting.push({ value, resolve, reject }));
    if (!this.#isRunning) void this.#runAll();
    return answer.catch(this.#failedToAdd);
  }

  /** The same numbers without an event, the lock and a write: one round trip and 12 bytes an event. */
  stats(): Promise<LockedAnswer<S>> {
    return this.#at.run(
      "stats",
      async () => {
        return this.#answerOf(await this.#read({ fence: 0, nonce: 0 }, []));
      },
      "no",
    );
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    // Calls of one turn travel together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      try {
        const answer = await this.#step(batch.map(({ value }) => value));
        for (const { resolve } of batch) resolve({ ...answer });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #step(added: number[]): Promise<LockedAnswer<S>> {
    const { waitMs, leaseMs, spanMs, maxBytes } = this.#settings;
    const held = await this.#lock.tryLock({ wait: waitMs, lease: leaseMs });
    if (!held) throw new OrielError("DEADLINE", `others held its lock for ${waitMs} ms`, { transient: true });
    try {
      const mark = { fence: held.fence, nonce: randomU32() };
      const content = await this.#read(mark, added);
      const { length } = content.values;
      if (length * EVENT_BYTES > maxBytes)
        throw new OrielError(
          "TOO_LARGE",
          `${length} events of ${EVENT_BYTES} bytes are more than maxBytes, ${maxBytes}`,
        );
      const answer = this.#answerOf(content);
      const { times, values } = content;
      await this.#store.run(lockedWrite, this.#key, { mark, times: bytesOf(times), values: bytesOf(values), spanMs });
      return answer;
    } finally {
      held.release().catch(() => false);
    }
  }

  async #read(mark: Mark, added: readonly number[]): Promise<LockedContent> {
    const { spanMs, closed, maxBytes } = this.#settings;
    try {
      const state = await this.#store.run(lockedRead, this.#key, { mark, mostBytes: maxBytes, spanMs });
      return contentOf(state, spanMs, closed, added);
    } catch (error) {
      throw asCorrupt(this.#key, error);
    }
  }

  #answerOf(content: LockedContent): LockedAnswer<S> {
    const own: Record<string, unknown> = {};
    for (const [name, statistic] of Object.entries(this.#settings.statistics))
      own[name] = statistic(content.values, content.times);
    return { ...lockedStatsOf(content), ...own } as LockedAnswer<S>;
  }
}

function bytesOf(column: BigInt64Array | Float32Array): Uint8Array {
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}
