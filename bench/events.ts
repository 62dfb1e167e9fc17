/** Seeded uniform numbers in [0, 1) (mulberry32), so that every run and every rival sees the same events. */
export function uniform(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Latency-like values: lognormal around 20 ms, in eighths of a millisecond and capped at 8192, so that each is exact
 * in f32 and sums of up to 2^36 of them are exact in f64.
 */
export function latencies(count: number, seed: number): Float32Array {
  const random = uniform(seed);
  const values = new Float32Array(count);
  for (let i = 0; i < count; i++) {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    values[i] = Math.min(8192, Math.round(Math.exp(3 + 0.8 * normal) * 8) / 8);
  }
  return values;
}
