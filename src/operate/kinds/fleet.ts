import { FleetMetrics } from "../../metrics/fleet/fleet-metrics.ts";
import type { MetricView } from "../../metrics/window/metric-view.ts";
import type { FleetCounts, FleetName, FleetPart } from "../dashboard/parts.ts";
import { finite } from "../dashboard/series/view.ts";
import { number } from "../format.ts";
import type { Kind } from "./kind.ts";
import type { Identified, Open, Scope } from "./scope.ts";

const MAX_NAMES = 50;

/** It counts nothing, so it sends nothing. */
const openFleet: Open<FleetMetrics> = (store, { name, settings: { interval, sampleCount, maxNames } }) =>
  new FleetMetrics(store, name, { interval, sampleCount, maxNames } as Record<string, number>);

/** Fleet metrics: the window of each name, over all processes. */
export const fleetKind: Kind = {
  open: openFleet,
  columns: ["rate", "denied"],
  async numbers(scope, structure) {
    const { total, intervalMs } = await fleetNames(scope, structure, 0);
    const perSecond = (count: number) => finite((count * 1000) / intervalMs);
    const words = (["denied", "failure"] as const).flatMap((of) =>
      total[of] > 0 ? `${number(perSecond(total[of]))}/s ${of === "denied" ? "denied" : "failed"}` : [],
    );
    const [rate, denied] = [perSecond(callsOf(total)), perSecond(total.denied)];
    return { rate, denied, state: words.join(", "), isBad: total.denied > 0 };
  },
  parts: {
    async names(scope, structure) {
      const [part, processes] = await Promise.all([fleetNames(scope, structure, MAX_NAMES), scope.processes()]);
      return { body: { ...part, processes } satisfies FleetPart };
    },
  },
  actions: {},
};

/** The sums of all names, and the `most` names with the most calls. */
export async function fleetNames(
  scope: Scope,
  structure: Identified,
  most: number,
): Promise<Omit<FleetPart, "processes">> {
  const views = await fleetOf(scope, structure).readAll();
  const all = [...views].map(([name, view]) => nameOf(name, view));
  const used = all.filter((each) => each.name !== "" || callsOf(each) > 0);
  const names = used.sort((a, b) => callsOf(b) - callsOf(a)).slice(0, most);
  const sum = (of: keyof FleetCounts) => used.reduce((all, each) => all + each[of], 0);
  const total = { allowed: sum("allowed"), denied: sum("denied"), success: sum("success"), failure: sum("failure") };
  return { intervalMs: [...views.values()][0]?.intervalMs ?? 0, names, total, count: used.length };
}

function fleetOf(scope: Scope, structure: Identified): FleetMetrics {
  return scope.opened(structure, openFleet, (fleet) => fleet.close());
}

function nameOf(name: string, view: MetricView): FleetName {
  return {
    name,
    allowed: view.allowed(),
    denied: view.denied(),
    success: view.success(),
    failure: view.failure(),
    meanLatencyMs: finite(view.meanLatencyMs()),
    maxLatencyMs: finite(view.maxLatencyMs()),
  };
}

function callsOf({ allowed, denied, success, failure }: FleetCounts): number {
  return Math.max(allowed + denied, success + failure);
}
