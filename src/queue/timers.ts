import { timerMs } from "../async/waiting.ts";

/** The timers of one process. Tests replace them to control time. */
export interface Timers {
  /** Calls `run` once after `ms`, or slightly earlier. Do not use it as a clock. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** Runtimes cannot wait longer than 24.8 days. A callback that comes early checks the time and waits again. */
export const TIMERS: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, timerMs(ms));
    return () => clearTimeout(timer);
  },
};
