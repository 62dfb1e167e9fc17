import { FleetMetrics } from "../../../metrics/fleet/fleet-metrics.ts";
import type { MetricView } from "../../../metrics/window/metric-view.ts";
import type { FleetCounts, FleetName, FleetPart } from "../parts.ts";
import type { Listed, Scope } from "../scope.ts";
import { finite } from "../series/numbers.ts";
import type { DashboardKind } from "./kind.ts";

const MAX_NAMES = 50;

/** Fleet metrics: the window of each name, over all processes. */
export const fleetKind: DashboardKind = {
  kind: "FleetMetrics",
  columns: [],
  parts: {
    async names(scope, structure) {
      const [views, processes] = await Promise.all([fleetOf(scope, structure).readAll(), scope.processes()]);
      const all = [...views].map(([name, view]) => nameOf(name, view));
      const used = all.filter((each) => each.name !== "" || callsOf(each) > 0);
      const names = used.sort((a, b) => callsOf(b) - callsOf(a)).slice(0, MAX_NAMES);
      const intervalMs = [...views.values()][0]?.intervalMs ?? 0;
      const sum = (of: keyof FleetCounts) => used.reduce((all, each) => all + each[of], 0);
      const total = {
        allowed: sum("allowed"),
        denied: sum("denied"),
        success: sum("success"),
        failure: sum("failure"),
      };
      return { body: { intervalMs, names, total, count: used.length, processes } satisfies FleetPart };
    },
  },
  actions: {},
};

/** It counts nothing, so it sends nothing. */
function fleetOf(scope: Scope, structure: Listed): FleetMetrics {
  const open = ({ name, settings: { interval, sampleCount, maxNames } }: Listed) =>
    new FleetMetrics(scope.store, name, { interval, sampleCount, maxNames } as Record<string, number>);
  return scope.opened(structure, open, (fleet) => fleet.close());
}

function nameOf(name: string, view: MetricView): FleetName {
  return {
    name,
    allowed: view.allowed(),
    denied: view.denied(),
    success: view.success(),
    failure: view.failure(),
    mean: finite(view.meanLatencyMs()),
    max: finite(view.maxLatencyMs()),
  };
}

function callsOf({ allowed, denied, success, failure }: FleetCounts): number {
  return Math.max(allowed + denied, success + failure);
}
