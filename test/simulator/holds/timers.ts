import { AsyncLocalStorage } from "node:async_hooks";
import type { SimProcess } from "../world/process.ts";
import type { Random } from "../world/random.ts";

const running = new AsyncLocalStorage<SimProcess>();

/** Runs code of a process. Its continuations are code of this process too. */
export function inProcess<T>(process: SimProcess, run: () => T): T {
  return running.run(process, run);
}

/** From now on code of a process draws its chances here. Returns how to undo that. */
export function withChances(chances: Random): () => void {
  const { random } = Math;
  Math.random = () => (running.getStore() ? chances.u32() / 0x1_0000_0000 : random());
  return () => {
    Math.random = random;
  };
}

class ProcessTimer {
  isOn = true;
}

/** From now on a timer that code of a process sets is one of this process. Returns how to undo that. */
export function withProcessTimers(): () => void {
  const { setTimeout: realSet, clearTimeout: realClear } = globalThis;
  const set = (run: () => void, ms: number) => {
    const process = running.getStore();
    if (!process) return realSet(run, ms);
    const timer = new ProcessTimer();
    process.after(Math.ceil(ms), () => timer.isOn && inProcess(process, run));
    return timer;
  };
  const clear = (timer: unknown) => {
    if (timer instanceof ProcessTimer) timer.isOn = false;
    else realClear(timer as Parameters<typeof realClear>[0]);
  };
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  return () => void Object.assign(globalThis, { setTimeout: realSet, clearTimeout: realClear });
}
