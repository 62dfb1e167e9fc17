import { collectFrom } from "./collect.ts";
import type { MetricInfo, MetricsSource } from "./metric.ts";

/** One source made of several. `partsOf` is called at each collection. */
export function together(metrics: readonly MetricInfo[], partsOf: () => readonly MetricsSource[]): MetricsSource {
  const parts = () => partsOf().flatMap((each) => each.parts?.() ?? [each]);
  return {
    metrics,
    parts,
    async collect() {
      const all = await collectFrom(parts());
      return metrics.map(({ prometheus }) => all.get(prometheus) ?? []);
    },
  };
}
