import { drawPlaces } from "./bracket.ts";
import type { Column, Kernel } from "./contract.ts";
import { kernelOf } from "./form.ts";
import { census } from "./js/census.ts";
import { collect } from "./js/collect.ts";
import { fold } from "./js/fold.ts";
import { narrow } from "./js/narrow.ts";
import { pairwiseSquares, pairwiseSum } from "./js/pairwise.ts";
import { rank } from "./js/rank.ts";
import { roll } from "./js/rolling.ts";
import { starts } from "./js/rolling-starts.ts";
import { sort } from "./js/sort.ts";
import { stream } from "./js/stream.ts";
import { trim } from "./js/trim.ts";

/** The plain JavaScript form: no WebAssembly, for strict content policies and runtimes without it. */
export const js = {
  name: "js",
  create: (): Kernel =>
    kernelOf<Column>({
      name: "js",
      hold: (values) => values,
      fold,
      census,
      pairwiseSum,
      pairwiseSquares,
      collect: (values, first, last) => collect(values, first, last),
      sample: (values, size, seed) => {
        const room = values instanceof Float32Array ? new Float32Array(size) : new Float64Array(size);
        const places = drawPlaces(size, values.length, seed);
        const drawn = room.map((_, i) => values[places[i]!]!);
        sort(drawn);
        return drawn;
      },
      narrow,
      rank,
      starts,
      roll,
      sort,
      sorted: (values) => {
        const copy = values.slice();
        sort(copy);
        return copy;
      },
      stream,
      append: collect,
      view: (values) => values,
      trim,
    }),
} as const;
