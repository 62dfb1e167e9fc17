import { pause } from "../../async/waiting.ts";

/** How one process waits. */
export interface Timers {
  pause(ms: number): Promise<void>;
  /** Runs it once, later; does not keep the process alive. Returns what calls it off. */
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
