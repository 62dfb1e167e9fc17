import { leaseClock } from "../async/lease-clock.ts";
import { Listeners } from "../async/listeners.ts";
import { argumentError, checkKnown, OrielError } from "../errors.ts";
import { checkStore, Place, placeOf } from "../place.ts";
import type { Store } from "../store/contract.ts";
import type { Clock } from "../time.ts";
import { Calls, type Ending, type RunningCall } from "./calls.ts";
import { BREAKER_EVENTS, type BreakerEvents, type BreakerStats, type Gate } from "./gate.ts";
import { LocalGate } from "./local-gate.ts";
import { type BreakerOptions, type BreakerSettings, breakerSettings } from "./options.ts";
import { SharedGate } from "./shared-gate.ts";
import { type BreakerTask, runTask } from "./task.ts";

export interface BreakerRunOptions<F = never> {
  /** Ends the call: it rejects with the reason at once, and counts as neither good nor bad. The signal of `fn` aborts, too. */
  signal?: AbortSignal | undefined;
  /** Gives the value in the place of a rejection: of `fn`, OPEN or DEADLINE; not where `signal` ended the call. */
  fallback?: ((error: unknown) => F | PromiseLike<F>) | undefined;
}

const EVENTS = { closed: "close", open: "open", "half-open": "halfOpen" } as const;

/**
 * A circuit breaker: closed, it lets calls through and counts them in an exact sliding window; it opens when too many
 * fail, or are slow, and rejects calls until the cooldown is over; half-open, it lets `probes` calls through: when all have
 * gone well it closes, with an empty window, when one has not it opens again. A probe that does not end within its `lease`
 * is given up, and what becomes of it later changes nothing.
 *
 * With a store, processes that use one name and span share one circuit. A process hands in what it has counted, at most
 * every `flush` ms, with its calls, which do not wait for it; what may open the circuit goes at once. The decision is taken
 * on the server's clock from all processes' numbers, and each process knows of it with its next handing in; probes are
 * counted over all. While the store fails a process goes on alone, from what it last heard, by what it counts itself; when
 * the store is back, its state holds, and what was counted meanwhile is handed in with its age. No timer is needed.
 */
export class Breaker {
  readonly name: string;
  readonly #monotonic: Clock;
  readonly #gate: Gate;
  readonly #calls: Calls;
  readonly #settings: BreakerSettings;
  readonly #at: Place;
  readonly #listeners: Listeners<BreakerEvents>;
  /** Errors of this breaker's own timeout. */
  readonly #timeouts = new WeakSet<OrielError>();
  #told: BreakerStats["state"] = "closed";

  /** Throws ARGUMENT for a wrong store or option. Nothing is sent yet. */
  constructor(store: Store | "local", options: BreakerOptions) {
    const { name = store === "local" ? "local" : undefined } = options ?? {};
    this.#settings = new Place("Breaker", name).checked(undefined, () => {
      if (store !== "local") checkStore(store, ', or "local"');
      return breakerSettings(options);
    });
    const { rule, slowMs, flushMs } = this.#settings;
    this.#at = store === "local" ? new Place("Breaker", name) : placeOf("Breaker", store, name as string);
    this.#listeners = new Listeners(this.#at, BREAKER_EVENTS);
    this.name = name as string;
    const onState = (stats: BreakerStats) => this.#tell(stats);
    const place = { structure: "Breaker", structureName: name, operation: "run", address: undefined };
    const onError = (error: unknown) => this.#listeners.tell("error", { error: this.#at.error("flush", error) });
    if (store === "local") {
      this.#monotonic = options.monotonic ?? leaseClock();
      this.#gate = new LocalGate(rule, this.#monotonic(), onState, place);
    } else {
      const key = `${store.keyOf(this.name)}:breaker:${rule.spanMs}`;
      this.#monotonic = options.monotonic ?? store.leaseClock;
      this.#gate = new SharedGate({ store, key, rule, flushMs, place, monotonic: this.#monotonic, onState, onError });
    }
    const failure = options.failureRatio !== undefined || options.failures !== undefined;
    this.#calls = new Calls(this.#gate, slowMs, failure);
  }

  /**
   * What `fn` gives. Rejects with what it rejects with or throws; with OPEN, and `fn` is not called, where the circuit is
   * open (`error.retryAfterMs`); with DEADLINE after the breaker's `timeout`; with the reason of `signal`. With a `fallback`
   * it gives that one's value instead. Closed, it costs well below a microsecond, and some more where `fn` takes the signal;
   * a call that may be a probe first waits for the store, at most for its deadline.
   */
  async run<T, F = never>(fn: BreakerTask<T>, options?: BreakerRunOptions<F>): Promise<T | F> {
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

  /** The circuit as this process knows it, and its window. */
  stats(): BreakerStats {
    return this.#gate.stats(this.#monotonic());
  }

  /** Hands in what is gathered, and hears of the circuit; rejects where the store fails. Without a store it does nothing. */
  flush(): Promise<void> {
    return this.#at.run("flush", () => this.#gate.flush());
  }

  /** Calls `listener` from now on with what happens; the answer ends that. */
  on<Name extends keyof BreakerEvents>(event: Name, listener: (told: BreakerEvents[Name]) => void): () => void {
    return this.#listeners.on(event, listener);
  }

  async #run<T>(fn: BreakerTask<T>, signal: AbortSignal | undefined): Promise<T> {
    const begun = this.#begin(signal);
    const call = begun instanceof Promise ? await begun : begun;
    let value: T;
    try {
      value = await runTask(fn, signal, this.#settings.timeoutMs, this.#timeoutError);
    } catch (error) {
      this.#calls.end(call, signal?.aborted ? "neither" : this.#endingOf(error), this.#monotonic());
      throw error;
    }
    this.#calls.end(call, "good", this.#monotonic());
    return value;
  }

  readonly #timeoutError = (): OrielError => {
    const options = { transient: true, applied: "unknown" } as const;
    const error = new OrielError("DEADLINE", `fn had not ended after ${this.#settings.timeoutMs} ms`, options);
    const placed = this.#at.error("run", error) as OrielError;
    this.#timeouts.add(placed);
    return placed;
  };

  /** Lets a call begin, or rejects it. */
  #begin(signal: AbortSignal | undefined): RunningCall | Promise<RunningCall> {
    if (this.#calls.isTimeless) return this.#calls.begin(0, 0);
    const nowMs = this.#monotonic();
    this.#calls.look(nowMs);
    try {
      const permit = this.#gate.enter(nowMs, signal);
      if (typeof permit === "number") return this.#calls.begin(nowMs, permit);
      return permit.then(
        (given) => this.#calls.begin(this.#monotonic(), given),
        (error) => this.#refuse(error),
      );
    } catch (error) {
      return this.#refuse(error);
    }
  }

  #refuse(error: unknown): never {
    const { retryAfterMs } = error as OrielError;
    if (retryAfterMs !== undefined) this.#listeners.tell("reject", { retryAfterMs });
    throw error;
  }

  #endingOf(error: unknown): Ending {
    try {
      if (this.#timeouts.has(error as OrielError)) return "failed";
      if (this.#settings.isIgnored(error)) return "neither";
      return this.#settings.isFailure(error) ? "failed" : "good";
    } catch {
      return "failed";
    }
  }

  #tell(stats: BreakerStats): void {
    if (stats.state === this.#told) return;
    this.#told = stats.state;
    this.#listeners.tell(EVENTS[stats.state], stats);
  }
}

function checkRunOptions(options: BreakerRunOptions<unknown>): AbortSignal | undefined {
  checkKnown(options, ["signal", "fallback"]);
  const { signal, fallback } = options;
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw argumentError("signal", signal, "an AbortSignal");
  if (fallback !== undefined && typeof fallback !== "function")
    throw argumentError("fallback", fallback, "a function of the error");
  return signal;
}
