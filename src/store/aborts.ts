/** What an abort ends. */
export interface Abortable {
  reject(reason: unknown): void;
}

/** One listener per signal, however many calls share it: runtimes warn of more, and removing each is linear. */
export class Aborts {
  readonly #waiting = new WeakMap<AbortSignal, { calls: Set<Abortable>; listener: () => void }>();

  add(signal: AbortSignal, call: Abortable): void {
    const known = this.#waiting.get(signal);
    if (known) {
      known.calls.add(call);
      return;
    }
    const calls = new Set([call]);
    const listener = () => {
      for (const each of [...calls]) each.reject(signal.reason);
    };
    this.#waiting.set(signal, { calls, listener });
    signal.addEventListener("abort", listener);
  }

  delete(signal: AbortSignal, call: Abortable): void {
    const known = this.#waiting.get(signal);
    if (!known?.calls.delete(call) || known.calls.size > 0) return;
    this.#waiting.delete(signal);
    signal.removeEventListener("abort", known.listener);
  }
}
