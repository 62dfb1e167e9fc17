/** The longest that a timer of the runtime can wait. */
const MOST_TIMER_MS = 2 ** 31 - 1;

export type Waited<T> = { kind: "done"; value: T } | { kind: "failed"; error: unknown } | { kind: "late" };

/** How a promise ended, or that it has not within `ms`. Never rejects; a late rejection is swallowed. */
export function within<T>(promise: Promise<T>, ms: number): Promise<Waited<T>> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timerMs(ms), { kind: "late" });
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

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, timerMs(ms)));
}

/** What a timer of the runtime takes: one that was given more would fire at once. */
export function timerMs(ms: number): number {
  return Math.max(0, Math.min(Math.ceil(ms), MOST_TIMER_MS));
}
