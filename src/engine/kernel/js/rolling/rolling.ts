import type { Column, Piece, RankTable } from "../../contract.ts";
import { between } from "../../percentile/percentile.ts";
import { RankSet } from "./rolling-bits.ts";
import { NONE, type Ranking, rollingRank } from "./rolling-rank.ts";

/** The JavaScript form of assembly/rolling/rolling.ts and assembly/rolling/rolling-rank.ts. */
export function roll(piece: Piece, tables: readonly RankTable[], out: readonly Float64Array[]): void {
  const ranking = rollingRank(piece.values);
  for (let i = 0; i < tables.length; i++) slide(piece, ranking, tables[i]!, out[i]!);
}

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one loop over columns, the mirror of assembly/rolling.
function slide(piece: Piece, { ranks, order }: Ranking, { lower, weight }: RankTable, out: Float64Array): void {
  const { values, base, starts, minCount } = piece;
  const warm = values.length - starts.length;
  const set = new RankSet(values.length);
  let n = 0;
  for (let i = 0; i < warm; i++) {
    const rank = ranks[i]!;
    if (rank === NONE) continue;
    set.add(rank);
    n++;
  }
  // `below` is the number of members below `cursor`. The cursor may not be a member while the window changes.
  let cursor = 0;
  let below = 0;
  if (n > 0) {
    const near = Math.min(n - 1, lower[warm + 1 - (starts[0]! - base) - minCount]!);
    for (let ones = set.near(0); below + ones <= near; ones = set.near(cursor)) {
      below += ones;
      cursor += 32;
    }
  }
  let oldest = 0;
  for (let i = warm; i < values.length; i++) {
    for (const start = starts[i - warm]! - base; oldest < start; oldest++) {
      const rank = ranks[oldest]!;
      if (rank === NONE) continue;
      set.remove(rank);
      if (rank < cursor) below--;
      n--;
    }
    const rank = ranks[i]!;
    if (rank !== NONE) {
      set.add(rank);
      if (rank < cursor) below++;
      n++;
    }
    if (n === 0) {
      out[i - warm] = Number.NaN;
      continue;
    }
    const k = lower[n - minCount]!;
    if (below > k) {
      for (; below > k; below--) cursor = set.last(cursor);
    } else {
      if (!set.has(cursor)) cursor = set.first(cursor);
      for (; below < k; below++) cursor = set.first(cursor + 1);
    }
    const low = valueAt(values, order, cursor);
    const share = weight[n - minCount]!;
    out[i - warm] = share === 0 ? low : between(low, valueAt(values, order, set.first(cursor + 1)), share);
  }
}

function valueAt(values: Column, order: Uint32Array, rank: number): number {
  return values[order[rank]!]!;
}
