import { timerMs, unref } from "./timers.ts";

export type Outcome<T> = { kind: "done"; value: T } | { kind: "failed"; error: unknown } | { kind: "late" };

/**
 * Resolves to the outcome of a promise, or to "late" after `ms`. Never rejects; a later rejection is ignored. An idle
 * wait does not keep the process alive. After a process stood still, its timers are due before it has read what came
 * meanwhile: it reads that first.
 */
export function within<T>(promise: Promise<T>, ms: number, isIdle = false): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const late = () => resolve({ kind: "late" });
    const timer = setTimeout(() => afterReading(late), timerMs(ms));
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

/** Node reads from sockets between its timers and its immediates. Other runtimes have no immediates, or similar ones. */
function afterReading(run: () => void): void {
  const { setImmediate } = globalThis as { setImmediate?: (run: () => void) => unknown };
  if (setImmediate) setImmediate(run);
  else run();
}
