import { pause } from "../../async/waiting.ts";

/** The waits of one process. */
export interface Timers {
  pause(ms: number): Promise<void>;
  /** Runs it once, later, without keeping the process alive. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const TIMERS: Timers = {
  pause,
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref?.();
    return () => clearTimeout(timer);
  },
};
