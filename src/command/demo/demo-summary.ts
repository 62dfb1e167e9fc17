import type { Colors } from "picocolors/types";
import type { WindowStats } from "../../entries/index.ts";
import { number } from "../../operate/format.ts";
import { tableLines } from "../live/columns.ts";
import { jsonLine } from "../text/json-line.ts";
import type { Traffic } from "./demo-traffic.ts";

export interface DemoResult {
  /** Over the whole run. */
  readonly whole: WindowStats;
  readonly traffic: Pick<Traffic, "sentCount" | "failedCount">;
  readonly elapsedMs: number;
  readonly isShared: boolean;
  readonly kernelName: string;
}

const PERCENTILES = [50, 90, 99, 99.9];

/** The summary of the demo for people and for `--json`, and whether the series has every sent request once. */
export function demoSummary(result: DemoResult, colors: Colors) {
  const { whole, traffic, elapsedMs, isShared, kernelName } = result;
  const { sentCount, failedCount } = traffic;
  const othersCount = isShared ? Math.max(0, whole.count - sentCount) : 0;
  const isComplete = failedCount === 0 && whole.count === sentCount + othersCount && !whole.degraded;
  const ms = (value: number | undefined) => `${number(value)} ms`;
  const lines = [
    ["requests sent", String(sentCount)],
    ["events in the series", String(whole.count)],
    ...(othersCount > 0 ? [["of these from other demos", String(othersCount)]] : []),
    ["requests/s", number((sentCount * 1000) / elapsedMs)],
    ["mean", ms(whole.mean)],
    ...PERCENTILES.map((percentile) => [`p${percentile}`, ms(whole.percentiles[percentile])]),
    ["max", ms(whole.max)],
    ["kernel", kernelName],
  ];
  const column = (i: number) => lines.map((line) => line[i]!);
  const [head = "", ...rows] = tableLines([
    { head: "the whole run", cells: column(0), rank: 0 },
    { head: "", cells: column(1), rank: 0, isRight: true },
  ]);
  const failed = failedCount > 0 ? `, ${failedCount} requests failed` : "";
  const verdict = isComplete
    ? colors.green("every request was counted, once")
    : colors.red(`NOT every request was counted once${failed}`);
  const text = [colors.bold(head), ...rows, verdict].map((line) => `${line}\n`).join("");
  return {
    text,
    json: jsonLine({ ...whole, sentCount, failedCount, othersCount, kernelName, isComplete }),
    isComplete,
  };
}
