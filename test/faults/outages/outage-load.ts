import { setTimeout as pause } from "node:timers/promises";

/** A limiter: ours, or a rival's behind an adapter. */
export interface Decider {
  take(id: string): Promise<{ allowed: boolean; degraded?: unknown }>;
}

export interface Load {
  /** Of each decision, ms, in the order made. */
  latenciesMs: number[];
  /** Of those that took several turns of the event loop: when they began and ended. A busy machine does not change turns. */
  waited: { fromTurn: number; toTurn: number }[];
  allowed: number;
  /** Decisions made without the store. They are not kept, since the caller measures the heap. */
  degraded: number;
}

/** A decision without a request takes fewer turns of the event loop. */
const WAITED_TURNS = 5;
/** A timer that is late by as much as makes a call ask has waited in a turn as long as this. */
const STALL_MS = 50;

/** Counts the turns of the event loop. */
export class Turns {
  now = 0;
  /** Turns in which the process stood still. */
  stalls = 0;
  #isOver = false;

  constructor() {
    let atMs = performance.now();
    const count = () => {
      const nowMs = performance.now();
      if (nowMs - atMs > STALL_MS) this.stalls++;
      atMs = nowMs;
      this.now++;
      if (!this.#isOver) setImmediate(count);
    };
    setImmediate(count);
  }

  end(): void {
    this.#isOver = true;
  }
}

/** Asks `perSecond` times a second, each time for another id, until `isOver`; resolves when all are decided. */
export async function load(limiter: Decider, perSecond: number, isOver: () => boolean, turns?: Turns): Promise<Load> {
  const made: Load = { latenciesMs: [], waited: [], allowed: 0, degraded: 0 };
  const all: Promise<void>[] = [];
  const beganMs = performance.now();
  for (let n = 0; !isOver(); ) {
    for (; n < ((performance.now() - beganMs) * perSecond) / 1000; n++) {
      const fromMs = performance.now();
      const fromTurn = turns?.now ?? 0;
      const asked = limiter.take(`id${n % 500}`).then((decision) => {
        made.latenciesMs.push(performance.now() - fromMs);
        const toTurn = turns?.now ?? 0;
        if (toTurn - fromTurn >= WAITED_TURNS) made.waited.push({ fromTurn, toTurn });
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
