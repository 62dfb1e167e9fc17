import { signalOf } from "../errors.ts";

interface Shared {
  calls: Set<() => void>;
  listener: () => void;
}

const shared = new WeakMap<AbortSignal, Shared>();

/**
 * Calls `call` when the signal aborts, until the returned function is called. All calls of one signal share a listener. Runtimes
 * warn of many listeners, and removing one takes linear time. An idle signal keeps none, because in Workers it belongs to a request.
 */
export function onAbort(signal: AbortSignal, call: () => void): () => void {
  let entry = shared.get(signal);
  if (!entry) {
    const calls = new Set<() => void>();
    const listener = () => {
      for (const each of calls) each();
    };
    entry = { calls, listener };
    shared.set(signal, entry);
    signal.addEventListener("abort", listener);
  }
  const { calls, listener } = entry;
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    shared.delete(signal);
    signal.removeEventListener("abort", listener);
  };
}

/** Settles as `promise` does, or rejects with the signal's reason when it aborts. The work itself goes on. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  signalOf("signal", signal);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    promise.then(resolve, reject).finally(onAbort(signal, abort));
  });
}
