import { kernel } from "../../src/entries/kernel.ts";
import { medianRunUs } from "../lock/turns.ts";
import type { NumpyProcess, NumpyRun } from "../rivals/python/numpy.ts";
import { sortedPercentile } from "../rivals/typed-array.ts";
import { type Contest, compareForms, type Effort } from "./forms.ts";
import type { Row } from "./report.ts";

const PARTITION = "NumPy partition";
const SORT = "TypedArray.sort";

/** p99 of all values. `numpy` has loaded them already. */
export async function benchSelection(
  labels: Row,
  values: Float32Array,
  numpy: NumpyProcess | undefined,
  effort: Effort,
): Promise<Row[]> {
  const sort = () => sortedPercentile(values.slice(), 99);
  const exact = sort();
  const contest: Contest = {
    labels: { ...labels, computation: "p99 alone" },
    rivals: [{ name: SORT, turnUs: () => medianRunUs(1, sort) }],
    numpy: PARTITION,
    sort: SORT,
    ours: () => kernel.percentile(values, 99),
    check(form) {
      const p99 = kernel.percentile(values, 99);
      if (p99 !== exact) throw new Error(`${form} answered p99 ${p99}; right is ${exact}`);
    },
  };
  if (numpy) {
    const byNumpy = (name: string, run: NumpyRun) => ({
      name,
      turnUs: async () => (await numpy.run(run, 0, 0, effort.repetitions)).nanoseconds / 1000,
    });
    contest.rivals = [byNumpy(PARTITION, "partition"), byNumpy("NumPy sort", "sort"), ...contest.rivals];
  }
  return compareForms(contest, effort);
}
