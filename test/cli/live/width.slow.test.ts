import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStage, type Stage } from "./stage.ts";
import { printedInTerminal } from "./terminal.ts";

let stage: Stage;
beforeAll(async () => {
  stage = await openStage();
  await stage.latency.recordMany(Array.from({ length: 100 }, (_, i) => i + 1));
  await stage.lock.tryLock({ lease: "60s" });
  await stage.counters.add({ page: "/a/page/with/a/path/that/is/long/表" }, 3);
  await stage.queue.add({ to: "a reader with a long name" }, { id: "order-1795000000000001" });
  await stage.announce("Series", "api:latency-of-a-service-with-a-long-name-表", { values: "float64" });
});
afterAll(() => stage?.close());

/** Arguments, and what a narrow table must still show. */
const ROWS: [args: string[], shown: RegExp][] = [
  [["limit", "peek", "api", "10.0.0.7"], /^per-minute .*5 +5/m],
  [["breaker", "ls"], /^payments +closed/m],
  [["lock", "ls"], /^nightly +.*\d m?s/m],
  [["ls"], /^api:latency|Series +api:latency/m],
  [["stats", "api:latency"], /^ {2}p99 +99\.01$/m],
  [["stats", "views"], /^\/a\/page.* 3$/m],
  [["stats", "api"], /^per-minute.* 5 a minute/m],
  [["top", "--once"], /^api:latency/m],
  [["queue", "peek", "sms"], /^order-179\S* +\d{4}-/m],
  [["queue", "counts", "sms"], /due 1/],
];

test.each(ROWS.flatMap(([args, shown]) => [40, 80, 120].map((columns) => ({ args, columns, shown }))))(
  "oriel $args fits into $columns columns of a terminal",
  async ({ args, columns, shown }) => {
    const { text, status } = await printedInTerminal([...args, "--redis", stage.server.url], columns);
    expect(status, text).toBe(0);
    const all = stripVTControlCharacters(text).replaceAll("\r", "").trimEnd().split("\n");
    const lines = all.filter((line) => !/OrielWarning|node --trace-warnings/.test(line)); // Node's own lines on stderr
    expect(lines.join("\n")).toMatch(shown);
    for (const line of lines) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
  },
);
