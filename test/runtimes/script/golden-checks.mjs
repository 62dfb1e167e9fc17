// NumPy's answers, bit for bit.

import { bitsOf } from "./checks.mjs";
import golden from "./golden.mjs";

const KINDS = {
  u24: (x) => (x >>> 8) / 2 ** 24,
  ties: (x) => (x >>> 24) % 17,
  wide: (x) => (((x >>> 9) & 0x7fffff) | 1) * 2 ** ((x & 63) - 40) * (x & 64 ? -1 : 1),
  offset: (x) => 1e6 + ((x >>> 12) & 15) * 0.125,
};

export const percents = golden.q;

/** The golden cases, each with its column. */
export const cases = golden.cases.map((known) => {
  let x = known.seed;
  const values = Array.from({ length: known.n }, () => {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0;
    return KINDS[known.kind](x);
  });
  const column = known.dtype === "f4" ? Float32Array.from(values) : Float64Array.from(values);
  return { ...known, name: `${known.kind} n=${known.n} ${known.dtype}`, column };
});

export function checkGolden(checks, kernel) {
  const compat = "numpy";
  for (const { name, column, dtype, pct, ...known } of cases) {
    const bits = (x) => bitsOf(x, dtype);
    const { mean, variance, std, min, max } = kernel.moments(column, { compat });
    checks.same(`${name} sum`, bits(kernel.sum(column, { compat })), known.sum);
    checks.same(`${name} exact sum`, bitsOf(kernel.sum(column)), known.fsum);
    checks.same(`${name} moments`, [mean, variance, std].map(bits), [known.mean, known.var0, known.std0]);
    checks.same(`${name} std of ddof 1`, bits(kernel.moments(column, { compat, ddof: 1 }).std), known.std1);
    checks.same(`${name} extrema`, [min, max].map(bits), [known.min, known.max]);
    for (const [method, expected] of Object.entries(pct)) {
      const got = percents.map((q) => bits(kernel.percentile(column, q, { method, compat })));
      checks.same(`${name} ${method}`, got, expected);
    }
  }
}
