import { setTimeout as pause } from "node:timers/promises";

/** A limiter: ours, or a rival's behind an adapter. */
export interface Decider {
  take(id: string): Promise<{ allowed: boolean; degraded?: unknown }>;
}

export interface Load {
  /** Of each decision, ms, in the order made. */
  latenciesMs: number[];
  /** Of each, turns of the event loop: what a busy machine does not change. */
  turns: number[];
  allowed: number;
  /** Decisions made without the store. They are not kept, since the caller measures the heap. */
  degraded: number;
}

/** Asks `perSecond` times a second, each time for another id, until `isOver`; resolves when all are decided. */
export async function load(limiter: Decider, perSecond: number, isOver: () => boolean): Promise<Load> {
  const made: Load = { latenciesMs: [], turns: [], allowed: 0, degraded: 0 };
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
        if (decision.allowed) made.allowed++;
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
