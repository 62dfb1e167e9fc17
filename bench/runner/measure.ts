import { setMaxListeners } from "node:events";

/** The work of closed-loop callers in one stretch of time. */
export interface Slice {
  operations: number;
  /** Calls that ended without an operation, except those cancelled at the end of the slice. */
  refused: number;
  elapsedMs: number;
  latenciesMs: number[];
}

export interface Load {
  /** Callers in parallel; each sends its next call when the last one was answered. */
  callers: number;
  sliceMs: number;
  /** The slice continues until this many operations are done. */
  minOperations: number;
}

/**
 * Runs one slice of closed-loop load. `call` is given its caller's number, and answers true when it did its operation.
 * At the end `signal` aborts, so that callers that wait for a lock give up. Calls already sent are awaited and counted.
 */
export async function runSlice(
  load: Load,
  call: (signal: AbortSignal, caller: number) => Promise<boolean>,
): Promise<Slice> {
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  const slice: Slice = { operations: 0, refused: 0, elapsedMs: 0, latenciesMs: [] };
  const startMs = performance.now();
  const lasts = () =>
    !over.signal.aborted && (performance.now() - startMs < load.sliceMs || slice.operations < load.minOperations);

  async function run(caller: number): Promise<void> {
    while (lasts()) {
      const sentMs = performance.now();
      const done = await call(over.signal, caller);
      if (done) {
        slice.operations++;
        slice.latenciesMs.push(performance.now() - sentMs);
      } else if (!over.signal.aborted) slice.refused++;
    }
    over.abort();
  }
  await Promise.all(Array.from({ length: load.callers }, (_, caller) => run(caller)));
  slice.elapsedMs = performance.now() - startMs;
  return slice;
}

export function operationsPerSecond(slice: Slice): number {
  return (slice.operations / slice.elapsedMs) * 1000;
}

/** Percentile by linear interpolation; NaN of nothing. */
export function percentile(values: ArrayLike<number>, p: number): number {
  const sorted = Float64Array.from(values).sort();
  if (sorted.length === 0) return Number.NaN;
  const rank = (p / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(rank)] as number;
  const above = sorted[Math.ceil(rank)] as number;
  return below + (above - below) * (rank - Math.floor(rank));
}

export const median = (values: ArrayLike<number>): number => percentile(values, 50);
