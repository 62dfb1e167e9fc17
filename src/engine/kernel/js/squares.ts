const sums = new Float64Array(8);

/** The JavaScript form of assembly/sums/squares.ts: eight plain lanes, folded in the same order. */
export function squares(values: Float64Array, mean: number): number {
  for (let lane = 0; lane < 8; lane++) {
    let sum = 0;
    for (let i = lane; i < values.length; i += 8) {
      const x = values[i]!;
      if (x - x === 0) sum += (x - mean) * (x - mean);
    }
    sums[lane] = sum;
  }
  return foldPlain(sums);
}

/** Eight lanes, in the order of assembly/sums/squares.ts. */
export function foldPlain(eight: Float64Array): number {
  const [a, b, c, d, e, f, g, h] = [
    eight[0]!,
    eight[1]!,
    eight[2]!,
    eight[3]!,
    eight[4]!,
    eight[5]!,
    eight[6]!,
    eight[7]!,
  ];
  return a + b + (c + d) + (e + f + (g + h));
}
