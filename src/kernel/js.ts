import type { Kernel } from "./contract.ts";
import { kernelOf } from "./form.ts";
import { census } from "./js/census.ts";
import { collect } from "./js/collect.ts";
import { lanes } from "./js/lanes.ts";
import { narrow } from "./js/narrow.ts";
import { pairwiseSquares, pairwiseSum } from "./js/pairwise.ts";
import { rank } from "./js/rank.ts";
import { sort } from "./js/sort.ts";
import { squares } from "./js/squares.ts";
import { trim } from "./js/trim.ts";

/** The plain JavaScript form: no WebAssembly, for strict content policies and runtimes without it. */
export const js = {
  name: "js",
  create: (): Kernel =>
    kernelOf({
      name: "js",
      hold: (values) => values,
      lanes,
      squares,
      census,
      pairwiseSum,
      pairwiseSquares,
      collect,
      narrow,
      rank,
      sort,
      sorted: (values) => {
        const copy = values.slice();
        sort(copy);
        return copy;
      },
      trim,
    }),
} as const;
