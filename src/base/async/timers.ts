/** The longest delay that a runtime's timer takes: 24.8 days. A longer one would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The timers of one process. Tests replace them to control time. */
export interface Timers {
  /** Resolves after `ms`. Keeps the process alive. */
  pause(ms: number): Promise<void>;
  /** Calls `run` once after `ms`, or slightly earlier. Do not use it as a clock. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Here `after` keeps the process alive. A wait of more than 24.8 days ends early: check the time and wait again. */
export const TIMERS: Timers = {
  pause,
  after(ms, run) {
    const timer = setTimeout(run, timerMs(ms));
    return () => clearTimeout(timer);
  },
};

/** Here `after` does not keep the process alive. */
export const IDLE_TIMERS: Timers = {
  pause,
  after(ms, run) {
    const timer = idleTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/** Same as `setTimeout`, but the timer does not keep the process alive. */
export function idleTimeout(run: () => void, ms: number): ReturnType<typeof setTimeout> {
  const timer = setTimeout(run, timerMs(ms));
  unref(timer);
  return timer;
}

/** Resolves after `ms`. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, timerMs(ms)));
}

/** A pause that `end` ends early. It does not keep the process alive. */
export function idlePause(ms: number): { ended: Promise<void>; end(): void } {
  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    const timer = idleTimeout(resolve, ms);
    end = () => {
      clearTimeout(timer);
      resolve();
    };
  });
  return { ended, end };
}

/** The delay to pass to `setTimeout`: a whole number of ms within its bounds. */
export function timerMs(ms: number): number {
  return Math.max(0, Math.min(Math.ceil(ms), MAX_TIMER_MS));
}

/**
 * Lets the process exit while this timer or socket is open. Browsers and edge runtimes have no `unref` and need none.
 * Deno's timers are numbers and have a function of their own.
 */
export function unref(handle: unknown): void {
  const { Deno } = globalThis as { Deno?: { unrefTimer?(timer: unknown): void } };
  if (typeof handle === "number") Deno?.unrefTimer?.(handle);
  else (handle as { unref?(): unknown } | undefined)?.unref?.();
}
