import { setTimeout as pause } from "node:timers/promises";
import type { Limiter } from "../../src/index.ts";

export interface Load {
  /** Of each decision, ms, in the order made. */
  latenciesMs: number[];
  /** Of each, turns of the event loop: what a busy machine does not change. */
  turns: number[];
  /** Decisions that `onStoreError` made. None is kept: whoever calls measures the heap. */
  degraded: number;
}

/** Asks `perSecond` times a second, each time for another id, until `isOver`; resolves when all are decided. */
export async function load(limiter: Limiter, perSecond: number, isOver: () => boolean): Promise<Load> {
  const made: Load = { latenciesMs: [], turns: [], degraded: 0 };
  const all: Promise<void>[] = [];
  let turn = 0;
  const count = () => {
    turn++;
    if (!isOver() || all.length > 0) setImmediate(count);
  };
  setImmediate(count);
  const beganMs = performance.now();
  for (let n = 0; !isOver(); ) {
    for (; n < ((performance.now() - beganMs) * perSecond) / 1000; n++) {
      const [fromMs, fromTurn] = [performance.now(), turn];
      const asked = limiter.take(`id${n % 500}`).then((decision) => {
        made.latenciesMs.push(performance.now() - fromMs);
        made.turns.push(turn - fromTurn);
        if (decision.degraded) made.degraded++;
      });
      all.push(asked);
      if (all.length === 2000) await Promise.all(all.splice(0, 1000));
    }
    await pause(1);
  }
  await Promise.all(all);
  all.length = 0;
  return made;
}

/** The value that a share of all do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
