import type { Column, Kernel } from "../contract.ts";
import { sampleIndexes } from "../passes/bracket.ts";
import { kernelOf } from "../passes/kernel-of.ts";
import { roll } from "./rolling/rolling.ts";
import { starts } from "./rolling/rolling-starts.ts";
import { census, collect, narrow, rank, sort, trim } from "./selection.ts";
import { stream } from "./stream.ts";
import { fold, pairwiseSquares, pairwiseSum } from "./sums.ts";
import { JsWavelet } from "./wavelet/wavelet.ts";

/** The JavaScript kernel, for runtimes without WebAssembly, or whose content security policy forbids it. */
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
        const places = sampleIndexes(size, values.length, seed);
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
      wavelet: () => new JsWavelet(),
    }),
} as const;
