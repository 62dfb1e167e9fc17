// What is measured, in every runtime the same: JavaScript as users write it, on data made from one seed.
import { kernel, Limiter, LocalSeries, memoryStore, slidingWindow } from "oriel";

/** Skewed like latencies: most are small, few are large. */
function latencies(count) {
  const values = new Float32Array(count);
  let state = 1;
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    values[i] = 1 / (1 - state / 2 ** 32 + 1e-4);
  }
  return values;
}

const WORKS = {
  /** Count, sum, moments, extrema, p50 and p99 of the later nine tenths of `size` events. */
  stats(size) {
    const values = latencies(size);
    const times = BigInt64Array.from({ length: size }, (_, i) => BigInt(i));
    return () => {
      const { sum, percentiles } = kernel.stats(times, values, size / 10, { percentiles: [50, 99] });
      return sum + percentiles[99];
    };
  },
  percentile(size) {
    const values = latencies(size);
    return () => kernel.percentile(values, 99);
  },
  /** `size` calls, one after the other, of a thousand ids. */
  limiter(size) {
    let nowMs = Date.UTC(2030, 0);
    const store = memoryStore({ clock: () => nowMs });
    const limiter = new Limiter(store, [slidingWindow({ limit: 100, span: "1m" })], { name: "bench" });
    return async () => {
      let left = 0;
      for (let i = 0; i < size; i++) {
        if (i % 10 === 0) nowMs++;
        left += (await limiter.take(`user:${(i * 7) % 1000}`)).remaining;
      }
      return left;
    };
  },
  /** `size` events into a window that stays full, each asked for its p99. */
  series(size) {
    const values = latencies(size);
    let nowMs = 0;
    const series = new LocalSeries({ clock: () => nowMs, retention: "10s" });
    return () => {
      let sum = 0;
      for (const value of values) {
        nowMs++;
        series.record(value);
        sum += series.percentile(99, { span: "10s" });
      }
      return sum;
    };
  },
};

const prepared = new Map();

/** So many runs of a work of a size; their answers' sum, which must be the same wherever it is done. */
export async function work(name, size, runs) {
  const key = `${name} ${size}`;
  if (!prepared.has(key)) prepared.set(key, WORKS[name](size));
  const run = prepared.get(key);
  let hash = 0;
  for (let i = 0; i < runs; i++) hash += await run();
  return { hash, kernel: kernel.name };
}

export async function timed(name, size, runs) {
  const begunMs = performance.now();
  const done = await work(name, size, runs);
  return { ...done, ms: performance.now() - begunMs };
}
