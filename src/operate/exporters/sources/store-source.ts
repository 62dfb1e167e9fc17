import type { Store, WatchedStore } from "../../../store/contract.ts";
import { counter, type MetricInfo, type MetricsSource, type Sample, Totals } from "../metric.ts";

export const STORE_METRICS: readonly MetricInfo[] = [
  {
    prometheus: "store_up",
    otel: "store.up",
    type: "gauge",
    unit: "1",
    help: "1 while this process can use the store, else 0. A sum is the number of processes that can.",
    isShared: false,
  },
  counter("store_outages", "store.outages", "{outage}", "Times that the store went down for this process."),
];

/** The health of a store as this process sees it, from now on. */
export function storeSource(store: Store): MetricsSource {
  const outages = new Totals();
  const labels = { server: store.address ?? "memory" };
  const watched = "health" in store ? (store as WatchedStore) : undefined;
  outages.add(labels, 0);
  watched?.on("down", () => outages.add(labels));
  return {
    metrics: STORE_METRICS,
    async collect() {
      const up: Sample[] = watched ? [{ value: watched.health.state === "up" ? 1 : 0, labels }] : [];
      return [up, outages.samples()];
    },
  };
}
