import { timerMs, unref } from "./timers.ts";

export type Outcome<T> = { kind: "done"; value: T } | { kind: "failed"; error: unknown } | { kind: "late" };

/**
 * Resolves to the outcome of a promise, or to "late" after `ms`. Never rejects; a later rejection is ignored. An idle
 * wait does not keep the process alive.
 */
export function within<T>(promise: Promise<T>, ms: number, isIdle = false): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timerMs(ms), { kind: "late" });
    if (isIdle) unref(timer);
    promise.then(
      (value) => {
        clearTimeout(timer);
        resolve({ kind: "done", value });
      },
      (error) => {
        clearTimeout(timer);
        resolve({ kind: "failed", error });
      },
    );
  });
}
