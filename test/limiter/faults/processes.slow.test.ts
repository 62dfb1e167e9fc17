import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Child, startChild } from "../../harness/child.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";

const { ORIEL_LIMITER_ROUNDS = "50" } = process.env;
const PROCESSES = 4;
const CALLS = 2000;
const BUDGET = 100;

let server: RedisServer;
let raw: Redis;
let children: Child[] = [];
beforeAll(async () => {
  server = await startRedis({ tcp: true });
  raw = new Redis(server.url);
  const script = new URL("./child.ts", import.meta.url);
  const skewsMs = [-10_000, 0, 10_000, 3_600_000];
  children = skewsMs.map((skewMs) => startChild(script, [server.url, CALLS / PROCESSES, BUDGET, skewMs]));
  await Promise.all(children.map((child) => child.printed(1)));
});
afterAll(async () => {
  await Promise.all(children.map((child) => child.kill()));
  raw?.disconnect();
  await server?.stop();
});

/** One message starts a round everywhere; each child prints how many of its calls passed, per policy. */
test.each(["sliding-window", "fixed-window", "leaky-bucket", "gcra", "concurrency"])(
  `%s: ${CALLS} concurrent calls of ${PROCESSES} processes with clocks 10 s and 1 h apart: ${BUDGET} pass, in ${ORIEL_LIMITER_ROUNDS} rounds`,
  async (kind) => {
    const before = children.map(({ lines }) => lines.length);
    for (let round = 1; round <= Number(ORIEL_LIMITER_ROUNDS); round++) {
      await until("all listen", async () => (await raw.publish("round", `${kind} ${kind}:${round}`)) === PROCESSES);
      await Promise.all(children.map((child, i) => child.printed(before[i]! + round)));
      const passed = children.map((child, i) => Number(child.lines[before[i]! + round - 1]));
      expect(passed.reduce((sum, each) => sum + each, 0)).toBe(BUDGET);
    }
  },
);
