import Table from "cli-table3";
import type { WindowStats } from "../../entries/index.ts";
import type { Traffic } from "./demo-traffic.ts";

export interface DemoResult {
  /** Over the whole run. */
  readonly whole: WindowStats;
  readonly traffic: Pick<Traffic, "sentCount" | "failedCount">;
  readonly elapsedMs: number;
  readonly isShared: boolean;
  readonly kernelName: string;
}

/** Lines around the table, none between its rows. */
const NO_RULES = { mid: "", "left-mid": "", "mid-mid": "", "right-mid": "" };

/** The summary of the demo, and whether the series has every sent request once. */
export function demoSummary({ whole, traffic, elapsedMs, isShared, kernelName }: DemoResult) {
  const { sentCount, failedCount } = traffic;
  const othersCount = isShared ? Math.max(0, whole.count - sentCount) : 0;
  const isComplete = failedCount === 0 && whole.count === sentCount + othersCount && !whole.degraded;
  const table = new Table({ chars: NO_RULES, style: { head: [], border: [] }, colAligns: ["left", "right"] });
  const ms = (value: number | undefined) => `${(value ?? Number.NaN).toFixed(2)} ms`;
  table.push(
    ["requests sent", String(sentCount)],
    ["events in the series", String(whole.count)],
    ...(othersCount > 0 ? [["of these from other demos", String(othersCount)]] : []),
    ["requests/s", (sentCount / (elapsedMs / 1000)).toFixed(1)],
    ["mean", ms(whole.mean)],
    ...[50, 90, 99, 99.9].map((percentile) => [`p${percentile}`, ms(whole.percentiles[percentile])]),
    ["max", ms(whole.max)],
    ["kernel", kernelName],
  );
  const failed = failedCount > 0 ? `, ${failedCount} requests failed` : "";
  const verdict = isComplete ? "every request was counted, once" : `NOT every request was counted once${failed}`;
  return { text: `${table.toString()}\n${verdict}\n`, isComplete };
}
