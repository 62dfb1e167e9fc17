import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, startRedis } from "../harness/redis-server.ts";
import { bruteForceReplay, type ReplayLaw } from "./brute-force.ts";
import { command } from "./command.ts";
import { DATA_FILES, type DataFile, readingsOf } from "./data-files.ts";
import { expectRows } from "./expect-rows.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ tcp: true });
});
afterAll(() => redis.stop());

const MINUTE = 60_000;
const everyOf = ({ key }: DataFile) => (key === undefined ? "300s" : "60s");
const lawsFor = (file: DataFile): (ReplayLaw & { options: string[] })[] => [
  {
    options: ["--span", "1h", "--every", "30m", "--percentiles", "0,50,90,99,99.9,100"],
    spanMs: 60 * MINUTE,
    everyMs: 30 * MINUTE,
    latenessMs: 0,
    closed: "right",
    percentiles: [0, 50, 90, 99, 99.9, 100],
  },
  {
    // The log has many events in few minutes of each hour, the latencies one event in five minutes.
    options: [
      "--span",
      "10m",
      "--every",
      everyOf(file),
      "--lateness",
      "30s",
      "--closed",
      "both",
      "--percentiles",
      "25,99",
    ],
    spanMs: 10 * MINUTE,
    everyMs: Number.parseInt(everyOf(file), 10) * 1000,
    latenessMs: 30_000,
    closed: "both",
    percentiles: [25, 99],
  },
  {
    options: ["--span", "5m", "--every", "10m", "--percentiles", "50"],
    spanMs: 5 * MINUTE,
    everyMs: 10 * MINUTE,
    latenessMs: 0,
    closed: "right",
    percentiles: [50],
  },
];

for (const file of DATA_FILES) {
  describe.skipIf(!file.present)(file.name, () => {
    for (const law of lawsFor(file)) {
      for (const store of ["memory", "redis"]) {
        test(`${law.options.join(" ")}, ${store} store: every window as brute force`, async () => {
          const wanted = bruteForceReplay(await readingsOf(file), law);
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
        }, 60_000);
      }
    }
  });
}
