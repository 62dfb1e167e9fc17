export type Row = Readonly<Record<string, string>>;
type Dimensions = Readonly<Record<string, readonly string[]>>;

/** Every pair of values of two dimensions that some row of `rows` has, as texts. */
export function pairsOf(rows: readonly Row[]): Set<string> {
  const pairs = new Set<string>();
  for (const row of rows) for (const pair of pairsIn(row)) pairs.add(pair);
  return pairs;
}

const valuesIn = (row: Row) => Object.entries(row).map(([dimension, value]) => `${dimension}=${value}`);

function pairsIn(row: Row): string[] {
  const values = valuesIn(row);
  return values.flatMap((one, i) => values.slice(i + 1).map((other) => `${one} ${other}`));
}

/** All possible rows. */
export function product(dimensions: Dimensions, isPossible: (row: Row) => boolean): Row[] {
  let rows: Row[] = [{}];
  for (const [dimension, values] of Object.entries(dimensions))
    rows = rows.flatMap((row) => values.map((value) => ({ ...row, [dimension]: value })));
  return rows.filter(isPossible);
}

/** Few rows that have every possible pair. */
export function pairwise(dimensions: Dimensions, isPossible: (row: Row) => boolean = () => true): Row[] {
  return fewest(product(dimensions, isPossible), pairsIn);
}

/** Few of `rows` that have each value of each dimension that any of them has. */
export function fewestWithEachValue(rows: readonly Row[]): Row[] {
  return fewest(rows, valuesIn);
}

/**
 * Few of `rows` that have all parts of all. Each is the one with the most parts that no earlier one has. Of equal rows the first
 * is taken, so that the same dimensions give the same rows.
 */
function fewest(rows: readonly Row[], partsIn: (row: Row) => string[]): Row[] {
  const all = rows.map((row) => ({ row, parts: partsIn(row) }));
  const missing = new Set(all.flatMap(({ parts }) => parts));
  const chosen: Row[] = [];
  while (missing.size > 0) {
    const newIn = ({ parts }: { parts: string[] }) => parts.filter((part) => missing.has(part)).length;
    const best = all.reduce((first, next) => (newIn(next) > newIn(first) ? next : first));
    chosen.push(best.row);
    for (const part of best.parts) missing.delete(part);
  }
  return chosen;
}
