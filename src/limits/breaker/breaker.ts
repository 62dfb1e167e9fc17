import { leaseClock } from "../../base/async/lease-clock.ts";
import { Listeners } from "../../base/async/listeners.ts";
import { argumentError, OrielError, signalOf } from "../../base/errors.ts";
import { fn, type Schema, settingsOf } from "../../base/options.ts";
import { checkStore, Site, siteOf } from "../../base/site.ts";
import type { Clock } from "../../base/time.ts";
import { CAUSE, COMMAND } from "../../generated/layouts/breaker.ts";
import type { Store } from "../../store/contract.ts";
import { tap } from "../../store/registry/live.ts";
import { register } from "../../store/registry/register.ts";
import { Calls, type Outcome, type RunningCall } from "./calls.ts";
import { circuitKeyOf } from "./flush.ts";
import {
  BREAKER_EVENTS,
  type BreakerEvents,
  type BreakerStats,
  DISABLED,
  type Gate,
  type OfReply,
  type Opening,
} from "./gate.ts";
import { LocalGate } from "./local-gate.ts";
import {
  type BreakerOptions,
  type BreakerOrderOptions,
  type BreakerSettings,
  breakerSettings,
  ORDER,
  sharedSettings,
} from "./options.ts";
import { SharedGate } from "./shared-gate.ts";
import { type BreakerTask, runTask } from "./task.ts";

/** Options of one call of `Breaker.run`. */
export interface BreakerRunOptions<F = never> {
  /** Ends the call. It rejects with the reason at once and is ignored. The signal of `fn` aborts too. */
  signal?: AbortSignal | undefined;
  /** Returns the value to use instead of a rejection: that of `fn`, OPEN or DEADLINE. Not called after an abort. */
  fallback?: ((error: unknown) => F | PromiseLike<F>) | undefined;
}

const RUN_OPTIONS = {
  signal: [signalOf],
  fallback: [fn, null, "a function of the error"],
} as const satisfies Schema<BreakerRunOptions<unknown>>;

/** Calls of a disabled breaker. */
const UNCOUNTED_CALLS = /* @__PURE__ */ new Calls(DISABLED, Number.POSITIVE_INFINITY, false);

const EVENTS = { closed: "close", open: "open", "half-open": "halfOpen" } as const;

const CAUSES = { [CAUSE.calls]: "calls", [CAUSE.probe]: "probe", [CAUSE.order]: "order" } as const;

/**
 * A circuit breaker. Closed, it lets calls through and counts them in an exact sliding window. It opens when too many of
 * them fail or are slow. Open, it rejects calls until the cooldown is over. Half-open, it lets `probes` calls through. If
 * all succeed, it closes with an empty window; if one fails, it opens again. A probe that outlasts its `lease` is given up,
 * and its result is ignored. With a `quorum` the share of failed probes decides, and one whose probe failed probes last.
 *
 * With a store, all processes with one name and span share one circuit. A process reports its counts at most every `flush`
 * ms, during calls, which do not wait for that. A report that may open the circuit is sent at once. The server decides, by
 * its clock and the counts of all processes. Each process learns the new state with its next report. While the store
 * fails, a process decides alone, from the last known state and its own calls. When the store is back, the shared state
 * applies again, and calls counted during the outage are reported with their ages. No timer is needed.
 */
export class Breaker {
  readonly name: string;
  // Without code: a class with a computed name stays in bundles that do not use it.
  declare readonly [tap]: (listener: (opening: object) => void) => void;
  readonly #monotonic: Clock;
  readonly #gate: Gate;
  readonly #countedCalls: Calls;
  /** `#countedCalls`, or `UNCOUNTED_CALLS` while the breaker is disabled. */
  #calls: Calls;
  readonly #settings: BreakerSettings;
  readonly #at: Site;
  readonly #listeners: Listeners<BreakerEvents>;
  readonly #openingListeners: ((opening: object) => void)[] = [];
  /** The errors of this breaker's `timeout`. */
  readonly #timeouts = new WeakSet<OrielError>();
  #reported: BreakerStats["state"] = "closed";
  /** That of the last opening. */
  #openedEpoch = 0;
  /** Whether calls have run through it. A monitor that only reads the circuit decides nothing. */
  #decides = false;

  /** Throws ARGUMENT for an invalid store or option. Sends nothing yet. */
  constructor(store: Store | "local", options: BreakerOptions) {
    const { name = store === "local" ? "local" : undefined } = options ?? {};
    this.#settings = new Site("Breaker", name).checked(undefined, () => {
      if (store !== "local") checkStore(store, ', or "local"');
      return breakerSettings(options);
    });
    const { rule, slowCallMs, flushMs } = this.#settings;
    this.#at = store === "local" ? new Site("Breaker", name) : siteOf("Breaker", store, name as string);
    this.#listeners = new Listeners(this.#at, BREAKER_EVENTS, (error) => ({ error }));
    this.name = name as string;
    this[tap] = (listener) => void this.#openingListeners.push(listener);
    const onState = (stats: BreakerStats, of?: OfReply) => this.#emitState(stats, of);
    const site = { structure: "Breaker", structureName: name, operation: "run", address: undefined };
    const onError = (error: unknown) => {
      if (this.#decides && store !== "local")
        store.goesOnWithout?.(`${this.#at.name} decides by the calls of this process alone`, error);
      this.#listeners.emit("error", { error: this.#at.error("flush", error) });
    };
    if (store === "local") {
      this.#monotonic = options.monotonic ?? leaseClock();
      this.#gate = new LocalGate({ rule, monotonic: this.#monotonic, onState, site });
    } else {
      const key = circuitKeyOf(store, this.name, rule.spanMs);
      this.#monotonic = options.monotonic ?? store.leaseClock;
      this.#gate = new SharedGate({ store, key, rule, flushMs, site, monotonic: this.#monotonic, onState, onError });
    }
    const failure = options.failureRatio !== undefined || options.failures !== undefined;
    this.#countedCalls = new Calls(this.#gate, slowCallMs, failure);
    this.#calls = this.#countedCalls;
    if (store !== "local") register(store, "Breaker", this.name, this, sharedSettings(this.#settings));
  }

  /**
   * Returns what `fn` returns, and rejects as `fn` rejects or throws. If the circuit is open, it rejects with OPEN and
   * `error.retryAfterMs`, without a call of `fn`. After `timeout` it rejects with DEADLINE, and after an abort with the
   * reason of `signal`. With a `fallback`, it returns the fallback's value instead. A closed circuit adds less than a
   * microsecond, and more if `fn` takes the signal. A call that may be a probe first waits for the store, at most for its
   * deadline.
   */
  run<T, F = never>(fn: BreakerTask<T>, options?: BreakerRunOptions<F>): Promise<T | F> {
    return this.#at.traced("run", () => this.#runWith(fn, options));
  }

  async #runWith<T, F>(fn: BreakerTask<T>, options: BreakerRunOptions<F> | undefined): Promise<T | F> {
    if (typeof fn !== "function") throw this.#at.error("run", argumentError("fn", fn, "a function"));
    if (!options) return this.#run(fn, undefined);
    const signal = this.#at.checked("run", () => checkRunOptions(options));
    signal?.throwIfAborted();
    const { fallback } = options;
    if (!fallback) return this.#run(fn, signal);
    try {
      return await this.#run(fn, signal);
    } catch (error) {
      if (signal?.aborted) throw error;
      return fallback(error);
    }
  }

  /** Returns the circuit and its window as this process knows them. */
  stats(): BreakerStats {
    return this.#gate.stats(this.#monotonic());
  }

  /** Reports to the store and learns the shared state. Rejects if the store fails. Does nothing without a store. */
  flush(): Promise<void> {
    return this.#at.run("flush", () => this.#gate.flush());
  }

  /**
   * Resolves once this process knows the shared circuit, with its state: so the first call of a new process is rejected if the
   * circuit is open. Never rejects: if the store fails, `degraded` is true, and the process decides alone. Costs one round trip
   * before the first report, at most the store's deadline, and later nothing.
   */
  ready(): Promise<BreakerStats> {
    return this.#at.run("ready", async () => {
      await this.#gate.ready();
      return this.stats();
    });
  }

  /**
   * Opens the circuit of all processes for one cooldown, or for `for` (1 ms to 7 days), whatever its state. No probe passes
   * until then. Other processes learn it with their next report. Rejects if the store fails: with `applied` "no" nothing has
   * changed, with "unknown" it may have. A repeated call begins the time again.
   */
  open(options?: BreakerOrderOptions): Promise<void> {
    return this.#order("open", options);
  }

  /**
   * Closes the circuit of all processes, with an empty window. A closed circuit stays as it is. Nothing opens it for `for` (1 ms
   * to 7 days), also not one process for itself; without it, such an order ends. Rejects as `open` does; a repeated call does no harm.
   */
  close(options?: BreakerOrderOptions): Promise<void> {
    return this.#order("close", options);
  }

  /**
   * Makes the circuit of all processes a new one: closed, with an empty window and the first cooldown, without orders, also where a
   * process has opened it for itself alone. Rejects as `open` does; a repeated call empties the window again.
   */
  reset(): Promise<void> {
    return this.#order("reset", undefined);
  }

  /**
   * Takes this process out of the circuit until `enable`: all of its calls pass, and none is counted. `timeout` and
   * `fallback` still apply. Other processes notice nothing.
   */
  disable(): void {
    this.#calls = UNCOUNTED_CALLS;
  }

  /** Ends `disable`. */
  enable(): void {
    this.#calls = this.#countedCalls;
  }

  /** False between `disable` and `enable`. */
  get enabled(): boolean {
    return this.#calls === this.#countedCalls;
  }

  /** Calls `listener` on each event from now on. Returns a function that ends this. */
  on<Name extends keyof BreakerEvents>(event: Name, listener: (event: BreakerEvents[Name]) => void): () => void {
    return this.#listeners.on(event, listener);
  }

  async #run<T>(fn: BreakerTask<T>, signal: AbortSignal | undefined): Promise<T> {
    const calls = this.#calls;
    const begun = this.#begin(calls, signal);
    const call = begun instanceof Promise ? await begun : begun;
    let value: T;
    try {
      value = await runTask(fn, signal, this.#settings.timeoutMs, this.#timeoutError);
    } catch (error) {
      calls.end(call, signal?.aborted ? "ignored" : this.#outcomeOf(error), this.#monotonic());
      throw error;
    }
    calls.end(call, "success", this.#monotonic());
    return value;
  }

  readonly #timeoutError = (): OrielError => {
    const options = { transient: true, applied: "unknown" } as const;
    const error = new OrielError(
      "DEADLINE",
      `fn did not end within the timeout of ${this.#settings.timeoutMs} ms`,
      options,
    );
    // Without the server's address: the store has no part in this failure.
    const late = new Site("Breaker", this.name).error("run", error) as OrielError;
    this.#timeouts.add(late);
    return late;
  };

  /** Lets a call begin, or rejects it. */
  #begin(calls: Calls, signal: AbortSignal | undefined): RunningCall | Promise<RunningCall> {
    this.#decides = true;
    if (calls.isTimeless) return calls.begin(0, 0);
    const nowMs = this.#monotonic();
    calls.countSlow(nowMs);
    try {
      const permit = this.#gate.enter(nowMs, signal);
      if (typeof permit === "number") return calls.begin(nowMs, permit);
      return permit.then(
        (granted) => calls.begin(this.#monotonic(), granted),
        (error) => this.#refuse(error),
      );
    } catch (error) {
      return this.#refuse(error);
    }
  }

  #refuse(error: unknown): never {
    const { retryAfterMs } = error as OrielError;
    if (retryAfterMs !== undefined) this.#listeners.emit("reject", { retryAfterMs });
    throw error;
  }

  #outcomeOf(error: unknown): Outcome {
    try {
      if (this.#timeouts.has(error as OrielError)) return "failure";
      if (this.#settings.isIgnored(error)) return "ignored";
      return this.#settings.isFailure(error) ? "failure" : "success";
    } catch {
      return "failure";
    }
  }

  #order(command: "open" | "close" | "reset", options: BreakerOrderOptions | undefined): Promise<void> {
    return this.#at.run(command, () => {
      const { forMs } = settingsOf(ORDER, options ?? {});
      return this.#gate.order(COMMAND[command], forMs);
    });
  }

  #emitState(stats: BreakerStats, of: OfReply | undefined): void {
    if (stats.state === "open" && of && of.epoch !== this.#openedEpoch) {
      const { calls, failures, slow } = stats;
      this.#openedEpoch = of.epoch;
      const opening: Opening = { atMs: of.epoch, cause: CAUSES[of.cause], calls, failures, slow };
      for (const each of this.#openingListeners) each(opening);
    }
    if (stats.state === this.#reported) return;
    this.#reported = stats.state;
    this.#listeners.emit(EVENTS[stats.state], stats);
  }
}

function checkRunOptions(options: BreakerRunOptions<unknown>): AbortSignal | undefined {
  return settingsOf(RUN_OPTIONS, options).signal;
}
