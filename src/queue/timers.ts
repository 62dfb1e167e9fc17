import { timerMs } from "../async/waiting.ts";

/** How one process waits; tests step it. */
export interface Timers {
  /** Runs it once, later, or a little too early: never trust it as a clock. Returns what calls it off. */
  after(ms: number, run: () => void): () => void;
}

/** Longer than 24.8 days the runtime cannot wait: whoever is called then looks, and waits again. */
export const TIMERS: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, timerMs(ms));
    return () => clearTimeout(timer);
  },
};
