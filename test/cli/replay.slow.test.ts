import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEMO_LATENCY } from "../data/folders.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { bruteForceReplay, type ReplayLaw } from "./brute-force.ts";
import { command } from "./command.ts";
import { expectRows } from "./expect-rows.ts";
import { DATA_FILES, type DataFile, readingsOf } from "./formats/data-files.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ tcp: true });
});
afterAll(() => redis.stop());

/** [span, every, lateness] in ms. The log has many events in few minutes of each hour, the demo all of them in ten seconds. */
type Lengths = readonly [spanMs: number, everyMs: number, latenessMs: number];
const MINUTE_MS = 60_000;

function lengthsFor({ key, path }: DataFile): Lengths[] {
  if (path === DEMO_LATENCY)
    return [
      [2000, 50, 0],
      [1000, 80, 20],
      [30, 60, 0],
    ];
  const everyMs = key === undefined ? 5 * MINUTE_MS : MINUTE_MS;
  return [
    [60 * MINUTE_MS, 30 * MINUTE_MS, 0],
    [10 * MINUTE_MS, everyMs, 30_000],
    [5 * MINUTE_MS, 10 * MINUTE_MS, 0],
  ];
}

const RULES = [
  { closed: "right", percentiles: [0, 50, 90, 99, 99.9, 100] },
  { closed: "both", percentiles: [25, 99] },
  { closed: "right", percentiles: [50] },
] as const;

const lawsFor = (file: DataFile): (ReplayLaw & { options: string[] })[] =>
  lengthsFor(file).map(([spanMs, everyMs, latenessMs], i) => {
    const rule = RULES[i]!;
    const lengths = ["--span", `${spanMs}ms`, "--every", `${everyMs}ms`, "--lateness", `${latenessMs}ms`];
    const options = [...lengths, "--closed", rule.closed, "--percentiles", rule.percentiles.join(",")];
    return { ...rule, spanMs, everyMs, latenessMs, options };
  });

for (const file of DATA_FILES) {
  describe(file.name, () => {
    for (const law of lawsFor(file)) {
      let computed: Promise<ReturnType<typeof bruteForceReplay>> | undefined;
      const bruteForce = () => {
        computed ??= readingsOf(file).then((readings) => bruteForceReplay(readings, law));
        return computed;
      };
      for (const store of ["memory", "redis"]) {
        test(`${law.options.join(" ")}, ${store} store: every window matches brute force`, async () => {
          const wanted = await bruteForce();
          const key = file.key === undefined ? [] : ["--key", file.key];
          const share = store === "redis" ? ["--redis", redis.url, "--name", randomUUID()] : [];
          const ended = await command(["replay", file.path, "--json", ...key, ...law.options, ...share]);
          expect(ended.status, ended.stderr).toBe(0);
          expect(wanted.rows.length).toBeGreaterThan(100);
          expectRows(ended.stdout, wanted.rows, law.percentiles);
          expect(ended.stderr).toContain(
            `${wanted.rows.length} rows; 0 lines could not be read; ${wanted.lateCount} events`,
          );
          expect(ended.stderr).toContain(`; ${wanted.lostCount} too late for any`);
        });
      }
    }
  });
}
