/** The longest that a timer of the runtime can wait. */
const MOST_TIMER_MS = 2 ** 31 - 1;

export type Waited<T> = { kind: "done"; value: T } | { kind: "failed"; error: unknown } | { kind: "late" };

/**
 * How a promise ended, or that it has not within `ms`. Never rejects; a late rejection is swallowed. A wait that is idle
 * keeps no process alive.
 */
export function within<T>(promise: Promise<T>, ms: number, isIdle = false): Promise<Waited<T>> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, timerMs(ms), { kind: "late" });
    if (isIdle) unrefTimer(timer);
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

/** A pause that can be ended, and keeps no process alive. */
export function idlePause(ms: number): { ended: Promise<void>; end(): void } {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, timerMs(ms));
    unrefTimer(timer);
    end = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  return { ended, end };
}

/** What a timer of the runtime takes: one that was given more would fire at once. */
export function timerMs(ms: number): number {
  return Math.max(0, Math.min(Math.ceil(ms), MOST_TIMER_MS));
}

/** The timer keeps no process alive any more. */
export function unrefTimer(timer: unknown): void {
  const { Deno } = globalThis as { Deno?: { unrefTimer?(timer: unknown): void } };
  if (typeof timer === "number") Deno?.unrefTimer?.(timer);
  else (timer as { unref?(): unknown }).unref?.();
}
