import { wholeNumber } from "../../base/errors.ts";
import { type Schema, type SettingsOf, settingsOf } from "../../base/options.ts";
import { atSite, checkStore } from "../../base/site.ts";
import { type Duration, durationMs } from "../../base/time.ts";
import type { Store } from "../../store/contract.ts";
import { onStructure, structuresOf } from "../../store/registry/live.ts";
import { quietStore } from "../../store/registry/quiet-store.ts";
import { BreakerHistory, type RecordedBreaker } from "./breaker-history.ts";
import { LimiterHistory, type RecordedLimiter } from "./limiter-history.ts";
import { QueueHistory, type RecordedWorker } from "./queue-history.ts";

/** Options of `recordHistory`. */
export interface HistoryOptions {
  /** Time between two reports of a limiter's counts, and so the length of the history's steps; default "10s". */
  interval?: Duration | undefined;
  /** How long counts of limiters are kept; default "3h". Each report is about 16 bytes for each policy and outcome. */
  retention?: Duration | undefined;
  /**
   * How long the lateness, wait and run time of each message are kept; default "1h". They take 42 bytes for each message, so a
   * queue of 1000 messages a second needs 150 MB an hour. `false` records none.
   */
  timings?: Duration | false | undefined;
  /** Limiters, queues and breakers with a history, by name, of each kind; default 100. Later ones have none. */
  maxNames?: number | undefined;
}

/** What `recordHistory` returns. */
export interface History {
  /**
   * Sends what this process has counted. Never rejects: counts that did not reach the store are sent with the next report. In a
   * runtime that ends with its request, such as Workers, call it with each request: `ctx.waitUntil(history.flush())`.
   */
  flush(): Promise<void>;
  /** Sends the rest and ends the history of this process. */
  close(): Promise<void>;
}

const MAX_MS = 2 ** 42;
const MAX_NAMES = 10_000;
const recording = new WeakMap<Store, Recorder>();

/**
 * Records what the limiters, queues and breakers of this process do on this store, for the dashboard. Of limiters: allowed,
 * denied and shadow-denied calls by policy, and the ids that are denied most. Of queues: the exact lateness, wait and run
 * time of each message. Of breakers: each opening with its cause.
 *
 * Structures made later are included. Call it once at the start. A further call for the store returns the same history, with
 * the options of the first call. No call of a structure waits for it. Throws ARGUMENT.
 *
 * @example
 * const history = recordHistory(store);
 * process.once("SIGTERM", () => history.close());
 */
export function recordHistory(store: Store, options: HistoryOptions = {}): History {
  return atSite("recordHistory", () => {
    checkStore(store);
    const settings = settingsOf(HISTORY, options);
    let recorder = recording.get(store);
    if (!recorder) {
      recorder = new Recorder(store, settings);
      recording.set(store, recorder);
    }
    return recorder;
  });
}

const HISTORY = {
  interval: [durationMs, 10_000, 1000, 3_600_000],
  retention: [durationMs, 10_800_000, 60_000, MAX_MS],
  timings: [timingsMsOf, 3_600_000],
  maxNames: [wholeNumber, 100, 1, MAX_NAMES],
} as const satisfies Schema<HistoryOptions>;

/** Undefined: none are recorded. */
function timingsMsOf(argument: string, timings: Duration | false): number | undefined {
  return timings === false ? undefined : durationMs(argument, timings, 60_000, MAX_MS);
}

class Recorder implements History {
  readonly #store: Store;
  readonly #quiet: Store;
  readonly #settings: SettingsOf<typeof HISTORY>;
  readonly #limiters: Named<LimiterHistory>;
  readonly #queues: Named<QueueHistory>;
  readonly #breakers: Named<BreakerHistory>;
  readonly #ends: (() => void)[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed: Promise<void> | undefined;

  constructor(store: Store, settings: SettingsOf<typeof HISTORY>) {
    this.#store = store;
    this.#quiet = quietStore(store);
    this.#settings = settings;
    const { maxNames, retentionMs, timings } = settings;
    const onCount = () => this.#later();
    this.#limiters = new Named(maxNames, (name) => new LimiterHistory(this.#quiet, name, retentionMs, onCount));
    this.#queues = new Named(maxNames, (name) => new QueueHistory(this.#quiet, name, timings!));
    this.#breakers = new Named(maxNames, (name) => new BreakerHistory(this.#quiet, name));
    for (const structure of structuresOf(store)) this.#attach(structure);
    this.#ends.push(onStructure(store, (structure) => this.#attach(structure)));
  }

  #attach(structure: object): void {
    const isOver = () => this.#closed !== undefined;
    if (isLimiter(structure)) this.#limiters.of(structure.name)?.attach(structure, isOver);
    else if (isBreaker(structure)) this.#breakers.of(structure.name)?.attach(structure, isOver);
    else if (isWorker(structure) && this.#settings.timings !== undefined) {
      const end = this.#queues.of(structure.queue.name)?.attach(structure);
      if (end) this.#ends.push(end);
    }
  }

  /** Reports after the interval. Processes do not stay alive for it. */
  #later(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => void this.flush(), this.#settings.intervalMs);
    (this.#timer as { unref?(): void }).unref?.();
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await Promise.all([...this.#limiters, ...this.#breakers].map((each) => each.flush()));
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (recording.get(this.#store) === this) recording.delete(this.#store);
    for (const end of this.#ends) end();
    await this.flush();
    await Promise.all([...this.#limiters, ...this.#queues].map((each) => each.close()));
  }
}

/** Histories by the name of their structure. */
class Named<Each> {
  readonly #maxNames: number;
  readonly #make: (name: string) => Each;
  readonly #byName = new Map<string, Each>();

  constructor(maxNames: number, make: (name: string) => Each) {
    this.#maxNames = maxNames;
    this.#make = make;
  }

  /** Undefined above the maximum number of names. */
  of(name: string): Each | undefined {
    let known = this.#byName.get(name);
    if (known === undefined && this.#byName.size < this.#maxNames) {
      known = this.#make(name);
      this.#byName.set(name, known);
    }
    return known;
  }

  [Symbol.iterator](): IterableIterator<Each> {
    return this.#byName.values();
  }
}

function isLimiter(structure: object): structure is RecordedLimiter {
  return "take" in structure && "acquire" in structure;
}

function isBreaker(structure: object): structure is RecordedBreaker {
  return "enable" in structure;
}

function isWorker(structure: object): structure is RecordedWorker {
  return "queue" in structure && "on" in structure;
}
