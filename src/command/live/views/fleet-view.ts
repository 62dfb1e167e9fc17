import { FleetMetrics, type MetricView } from "../../../entries/index.ts";
import { asTyped, exact } from "../../../operate/format.ts";
import type { Column } from "../columns.ts";
import { type OpenView, setting } from "./view.ts";

interface Line {
  name: string;
  allowed: number;
  denied: number;
  success: number;
  failure: number;
  meanLatencyMs: number;
}

/** The numbers of each name of a fleet. */
export const fleetView: OpenView = (store, found) => {
  const fleet = new FleetMetrics(store, found.name, {
    interval: setting(found, "interval"),
    sampleCount: setting(found, "sampleCount"),
    maxNames: setting(found, "maxNames"),
  });
  return {
    async read() {
      const views = await fleet.readAll();
      const lines = [...views].map(([name, view]) => lineOf(name, view));
      const shown = lines.filter((line) => line.name !== "" || line.allowed + line.denied + line.success > 0);
      const intervalMs = [...views.values()][0]?.intervalMs ?? Number.NaN;
      const perSecond = (of: "allowed" | "denied" | "success" | "failure") =>
        (shown.reduce((sum, line) => sum + line[of], 0) * 1000) / intervalMs;
      const denied = perSecond("denied");
      return {
        facts: [["interval", asTyped(intervalMs)]],
        table: columnsOf(shown),
        json: { intervalMs, names: shown },
        overview: {
          rate: Math.max(perSecond("allowed"), perSecond("success") + perSecond("failure")),
          state: `${exact(denied)}/s denied, ${exact(perSecond("failure"))}/s failed`,
          isBad: denied > 0,
        },
      };
    },
    close: () => fleet.close(),
  };
};

function lineOf(name: string, view: MetricView): Line {
  return {
    name,
    allowed: view.allowed(),
    denied: view.denied(),
    success: view.success(),
    failure: view.failure(),
    meanLatencyMs: view.meanLatencyMs(),
  };
}

function columnsOf(lines: readonly Line[]): Column[] {
  const numbers = ["allowed", "denied", "success", "failure"] as const;
  return [
    { head: "name", cells: lines.map(({ name }) => (name === "" ? "(all others)" : name)), rank: 0, minWidth: 12 },
    ...numbers.map((head, i) => ({
      head: head as string,
      cells: lines.map((line) => exact(line[head])),
      rank: i,
      isRight: true,
    })),
    { head: "mean ms", cells: lines.map((line) => exact(line.meanLatencyMs)), rank: 4, isRight: true },
  ];
}
