import { argumentError } from "../../../src/errors.ts";
import { type MetricInfo, type MetricsSource, nameLabel, Totals } from "../../../src/exporters/metric.ts";
import { placed } from "../../../src/place.ts";

/** The members of `Lock` that this source uses. */
export interface LockLike {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: it passes on the arguments of the lock.
  tryLock(...args: any[]): Promise<object | null>;
}

/** Counts the calls of this lock's `tryLock` from now on, by outcome, and the time that they took. Throws ARGUMENT. */
export function lockSource(lock: LockLike): MetricsSource {
  return placed("lockSource", () => {
    if (typeof lock?.tryLock !== "function") throw argumentError("lock", lock, "a Lock");
    const name = nameLabel(lock.name);
    const [calls, seconds] = [new Totals(), new Totals()];
    const tryLock = lock.tryLock.bind(lock);
    lock.tryLock = async (...args) => {
      const startMs = performance.now();
      let outcome = "failed";
      try {
        const held = await tryLock(...args);
        outcome = held ? "acquired" : "busy";
        return held;
      } finally {
        calls.add({ name, outcome });
        seconds.add({ name, outcome }, (performance.now() - startMs) / 1000);
      }
    };
    return { metrics: METRICS, collect: async () => [calls.samples(), seconds.samples()] };
  });
}

const METRICS: readonly MetricInfo[] = [
  {
    prometheus: "lock_calls_total",
    otel: "lock.calls",
    type: "counter",
    unit: "{call}",
    help: "Calls of tryLock in this process, by outcome.",
    isShared: false,
  },
  {
    prometheus: "lock_wait_seconds_total",
    otel: "lock.wait",
    type: "counter",
    unit: "s",
    help: "Time that calls of tryLock took in this process, by outcome.",
    isShared: false,
  },
];
