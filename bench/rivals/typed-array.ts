export interface PlainAnswer {
  count: number;
  sum: number;
  mean: number;
  p99: number;
}

/**
 * The usual code without a library: a loop that keeps and sums the values inside, then TypedArray.sort.
 * Times are converted to numbers in advance, untimed, since loops over BigInt are several times slower.
 */
export function typedArrayPipeline(instants: BigInt64Array, values: Float32Array, fromMs: number, toMs: number) {
  const times = Float64Array.from(instants, Number);
  return (): PlainAnswer => {
    const kept = new Float32Array(values.length);
    let count = 0;
    let sum = 0;
    for (let i = 0; i < values.length; i++) {
      const t = times[i] as number;
      if (t <= fromMs || t > toMs) continue;
      const value = values[i] as number;
      kept[count++] = value;
      sum += value;
    }
    return { count, sum, mean: sum / count, p99: sortedPercentile(kept.subarray(0, count), 99) };
  };
}

/** Sorts `values` in place. Rounds as oriel does for a whole p, so that answers are comparable to the last bit. */
export function sortedPercentile(values: Float32Array, p: number): number {
  values.sort();
  const hundredths = p * (values.length - 1);
  const weight = (hundredths % 100) / 100;
  const below = values[Math.floor(hundredths / 100)] as number;
  const above = values[Math.ceil(hundredths / 100)] as number;
  return weight < 0.5 ? below + (above - below) * weight : above - (above - below) * (1 - weight);
}
