export type Row = Readonly<Record<string, string>>;
type Dimensions = Readonly<Record<string, readonly string[]>>;

/** Every pair of values of two dimensions that some row of `rows` has, as texts. */
export function pairsOf(rows: readonly Row[]): Set<string> {
  const pairs = new Set<string>();
  for (const row of rows) for (const pair of pairsIn(row)) pairs.add(pair);
  return pairs;
}

function pairsIn(row: Row): string[] {
  const values = Object.entries(row).map(([dimension, value]) => `${dimension}=${value}`);
  return values.flatMap((one, i) => values.slice(i + 1).map((other) => `${one} ${other}`));
}

/** All possible rows. */
export function product(dimensions: Dimensions, isPossible: (row: Row) => boolean): Row[] {
  let rows: Row[] = [{}];
  for (const [dimension, values] of Object.entries(dimensions))
    rows = rows.flatMap((row) => values.map((value) => ({ ...row, [dimension]: value })));
  return rows.filter(isPossible);
}

/**
 * Few rows that have every possible pair. Each row is the one with the most pairs that no earlier row has. Of equal rows the
 * first is taken, so that the same dimensions give the same rows.
 */
export function pairwise(dimensions: Dimensions, isPossible: (row: Row) => boolean = () => true): Row[] {
  const all = product(dimensions, isPossible).map((row) => ({ row, pairs: pairsIn(row) }));
  const missing = pairsOf(all.map(({ row }) => row));
  const chosen: Row[] = [];
  while (missing.size > 0) {
    const newIn = ({ pairs }: { pairs: string[] }) => pairs.filter((pair) => missing.has(pair)).length;
    const best = all.reduce((first, next) => (newIn(next) > newIn(first) ? next : first));
    chosen.push(best.row);
    for (const pair of best.pairs) missing.delete(pair);
  }
  return chosen;
}
