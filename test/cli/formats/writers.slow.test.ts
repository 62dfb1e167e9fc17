import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisStore, Series } from "../../../src/entries/index.ts";
import { builtProgram } from "../../harness/built-program.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { bruteForceStats, isInside } from "../brute-force.ts";
import { expectStats } from "../expect-rows.ts";
import { DATA_FILES, type DataFile, readingsOf } from "./data-files.ts";

const WRITERS = 4;
const RETENTION_MS = 30 * 86_400_000;
const SPAN_MS = 3_600_000;
const PERCENTILES = [50, 90, 99];

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ tcp: true });
});
afterAll(() => redis.stop());

for (const file of DATA_FILES) {
  describe(file.name, () => {
    test(`${WRITERS} writer processes, one series per key: every window that is read matches brute force`, async () => {
      const name = randomUUID();
      const statuses = await Promise.all(Array.from({ length: WRITERS }, (_, part) => writer(file, name, part)));
      expect(statuses).toEqual(new Array(WRITERS).fill(0));

      const readings = await readingsOf(file);
      const store = redisStore(redis.url);
      for (const key of new Set(readings.map((reading) => reading.key))) {
        const own = readings.filter((reading) => reading.key === key);
        const options = { retention: RETENTION_MS, values: "float64", clock: "event" } as const;
        const series = new Series(store, `${name}:${key ?? ""}`, options);
        const whole = await series.stats({ span: RETENTION_MS, percentiles: PERCENTILES });
        expect(whole.count).toBe(own.length);
        for (const endMs of endsOf(own.map(({ atMs }) => atMs))) {
          const law = { spanMs: SPAN_MS, closed: "right" as const };
          const values = own.filter(({ atMs }) => isInside(atMs, endMs, law)).map(({ value }) => value);
          const stats = await series.stats({ at: endMs, span: SPAN_MS, percentiles: PERCENTILES });
          expect(stats.count).toBe(values.length);
          expect(stats.degraded).toBe(false);
          if (values.length === 0) continue;
          const percentiles = PERCENTILES.map((percentile) => stats.percentiles[percentile] as number);
          expectStats({ ...stats, percentiles }, bruteForceStats(values, PERCENTILES));
        }
        await series.close();
      }
      await store.close();
    });
  });
}

function endsOf(times: readonly number[]): number[] {
  const ends: number[] = [];
  const last = Math.max(...times);
  for (let endMs = Math.ceil(Math.min(...times) / SPAN_MS) * SPAN_MS; endMs < last + SPAN_MS; endMs += SPAN_MS)
    ends.push(endMs);
  return ends;
}

function writer({ path, key = "" }: DataFile, name: string, part: number): Promise<number | null> {
  const script = builtProgram(new URL("./writer.ts", import.meta.url));
  const args = [redis.url, name, RETENTION_MS, path, key, part, WRITERS].map(String);
  const child = spawn(process.execPath, [script, ...args], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  return new Promise((resolve) => child.on("close", resolve));
}
