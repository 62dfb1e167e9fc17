import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { freePort, type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { node, placed, run, type Started } from "./placed.ts";

let redis: RedisServer;
beforeAll(async () => {
  redis = await startRedis({ tcp: true });
});
afterAll(() => redis?.stop());

interface Listed {
  id: string;
  kind: string;
  name: string;
  processes: number;
}

describe.skipIf(node === undefined)("the fleet", () => {
  test("has four processes under load on one dashboard, until npm stop", async () => {
    const folder = placed("fleet");
    const [fleet, url] = await fleetAt(folder);
    let structures: Listed[] = [];
    await until("every process shows all of its structures", async () => {
      const overview = await (await fetch(`${url}/api/overview`)).json();
      structures = (overview as { structures: Listed[] }).structures;
      // The fifth process is the dashboard's, which has no structure.
      const whole = structures.filter(({ processes }) => processes === 4);
      return whole.length === 7;
    });
    expect(structures.map(({ kind, name }) => `${kind} ${name}`).sort()).toEqual([
      ...["Breaker payments", "Counters visits", "DelayQueue mails", "FleetMetrics shop"],
      ...["Limiter visitors", "Lock cleaning", "Series latency"],
    ]);
    const rows = (await (await fetch(`${url}/api/rank?span=60000`)).json()) as Record<string, unknown>;
    const series = structures.find(({ kind }) => kind === "Series")!;
    expect(JSON.stringify(rows[series.id])).toMatch(/[1-9]/);
    expect(existsSync(join(folder, "fleet.pid"))).toBe(true);
    const stop = run(folder, "stop", {});
    expect(await stop.ended).toBe(0);
    expect(stop.printed()).toContain("the fleet ends");
    expect(await fleet.ended, fleet.printed()).toBe(0);
    expect(existsSync(join(folder, "fleet.pid"))).toBe(false);
    expect(fleet.printed()).not.toMatch(/error/i);
    const again = run(folder, "stop", {});
    expect(await again.ended).toBe(0);
    expect(again.printed()).toContain("no fleet runs");
  });

  test("ends by Ctrl-C", async () => {
    const [fleet] = await fleetAt(placed("fleet"));
    fleet.child.kill("SIGINT");
    expect(await fleet.ended, fleet.printed()).toBe(0);
  });
});

async function fleetAt(folder: string): Promise<[fleet: Started, url: string]> {
  const port = String(await freePort());
  const fleet = run(folder, "start", { REDIS_URL: redis.url, PORT: port });
  await until("the dashboard listens", () => fleet.printed().includes("4 processes under load"));
  return [fleet, `http://127.0.0.1:${port}`];
}
