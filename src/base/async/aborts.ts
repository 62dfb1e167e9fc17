import { signalOf } from "../errors.ts";

/** A call that an abort rejects. */
export interface Abortable {
  reject(reason: unknown): void;
}

interface Entry {
  signal: AbortSignal;
  calls: Set<Abortable>;
  listener: () => void;
}

/**
 * Keeps one listener per signal, even if many calls share it. Runtimes warn of many listeners, and removing one takes
 * linear time. The signal that became idle last keeps its listener until another signal becomes idle. So a long-lived
 * signal that serves one call after another gets only one listener.
 */
export class Aborts {
  readonly #entries = new WeakMap<AbortSignal, Entry>();
  #idle: Entry | undefined;

  add(signal: AbortSignal, call: Abortable): void {
    let entry = this.#entries.get(signal);
    if (!entry) {
      const calls = new Set<Abortable>();
      const listener = () => {
        for (const each of [...calls]) each.reject(signal.reason);
      };
      entry = { signal, calls, listener };
      this.#entries.set(signal, entry);
      signal.addEventListener("abort", listener);
    }
    entry.calls.add(call);
    if (this.#idle === entry) this.#idle = undefined;
  }

  delete(signal: AbortSignal, call: Abortable): void {
    const entry = this.#entries.get(signal);
    if (!entry?.calls.delete(call) || entry.calls.size > 0) return;
    if (this.#idle) {
      this.#entries.delete(this.#idle.signal);
      this.#idle.signal.removeEventListener("abort", this.#idle.listener);
    }
    this.#idle = entry;
  }
}

/** Settles as `promise` does, or rejects with the signal's reason when it aborts. The work itself goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signalOf("signal", signal);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
