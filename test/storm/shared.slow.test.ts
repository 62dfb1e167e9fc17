import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Series } from "../../src/entries/index.ts";
import { type Child, startChild } from "../harness/child.ts";
import { startCluster } from "../harness/servers/redis-cluster.ts";
import { type RedisServer, startRedis } from "../harness/servers/redis-server.ts";
import { startRest } from "../harness/servers/rest-server.ts";
import { Random } from "../simulator/world/random.ts";
import { expectStats } from "../stats/oracle.ts";
import { clients, clusterClients, storeOn } from "../store/contract/clients.ts";
import { type Asked, MAX_AGE_MS, QUESTION, type SharedOrders } from "./shared/orders.ts";

const { ORIEL_SEED, ORIEL_STOPS = "6" } = process.env;
const seed = Number(ORIEL_SEED ?? Math.floor(Math.random() * 2 ** 32));
const PROCESSES = 3;

let server: RedisServer;
let cluster: Awaited<ReturnType<typeof startCluster>>;
let rest: Awaited<ReturnType<typeof startRest>>;
beforeAll(async () => {
  [server, cluster] = await Promise.all([startRedis({ tcp: true }), startCluster(2)]);
  rest = await startRest(server.url);
});
afterAll(() => rest?.stop());
afterAll(() => Promise.all([server?.stop(), cluster?.stop()]));

test.each([["Redis"], ["cluster"], ["HTTP"]] as const)(
  `shared answers are young and exact while their processes are killed, stopped and cut off: %s (seed ${seed})`,
  { timeout: 300_000 },
  async (client) => {
    const random = new Random(seed);
    const urls = client === "cluster" ? cluster.nodes.map(({ url }) => url) : [server.url];
    const operators = urls.map((url) => new Redis(url));
    for (const operator of operators) await operator.flushall();
    let started = 0;
    const answers: Asked[] = [];
    const start = (): Child => {
      const { url, token } = rest;
      const orders: SharedOrders = { client, urls, rest: { url, token }, id: ++started };
      return startChild(new URL("./shared/child.ts", import.meta.url), [JSON.stringify(orders)]);
    };
    const children = Array.from({ length: PROCESSES }, start);
    /** Each of them is answered again, whatever became of the others. */
    const goOn = (some: readonly Child[]) => Promise.all(some.map((child) => child.printed(child.lines.length + 3)));
    const keep = ({ lines }: Child) => {
      for (const line of lines) if (line.endsWith("}")) answers.push(JSON.parse(line) as Asked);
    };
    await goOn(children);
    for (let i = 0; i < Number(ORIEL_STOPS); i++) {
      await pause(random.int(0, 50));
      const at = random.int(0, PROCESSES - 1);
      const one = children[at]!;
      const others = children.filter((child) => child !== one);
      const fault = (["kill", "stop", "cut"] as const)[i % 3];
      if (fault === "kill") {
        await one.kill();
        keep(one);
        await goOn(others);
        children[at] = start();
      } else if (fault === "stop") {
        one.pause();
        // Longer than its claim: the others take it over, and it publishes late.
        await Promise.all([goOn(others), pause(4 * MAX_AGE_MS)]);
        one.resume();
      } else for (const operator of operators) await operator.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      await goOn(children);
    }
    // Those that are left answer when only one of them lives.
    while (children.length > 1) {
      const one = children.pop()!;
      await one.kill();
      keep(one);
      await goOn(children);
    }
    await children[0]!.kill();
    keep(children[0]!);

    const connection = client === "cluster" ? clusterClients["ioredis 6"](urls) : clients["ioredis 6"](urls[0]!);
    const store = storeOn(connection, {});
    const cold = new Series(store, "s", { retention: "10m", values: "float64" });
    const events = [...(await cold.values({ span: "10m" }))];
    const prefixes = new Map<number, number[]>();
    for (const { askedMs, stats } of answers) {
      expect(stats.degraded, JSON.stringify(stats)).toBe(false);
      // 2 ms for the drift of a process's clock.
      expect(askedMs - stats.asOfMs!).toBeLessThanOrEqual(MAX_AGE_MS + 2);
      const known = await cold.stats({ span: "10m", at: Math.min(stats.asOfMs!, askedMs) - 1, percentiles: [] });
      expect(stats.count).toBeGreaterThanOrEqual(known.count);
      // The events are one journal: an answer is that of its first ones, to the last digit.
      const prefix = prefixes.get(stats.count) ?? events.slice(0, stats.count);
      prefixes.set(stats.count, prefix);
      expectStats(stats, prefix, { percentiles: [...QUESTION.percentiles] });
    }
    const shared = new Set(answers.map(({ stats }) => stats.asOfMs)).size;
    expect(shared).toBeLessThan(answers.length);
    await cold.close();
    await store.close();
    connection.end();
    for (const operator of operators) operator.disconnect();
  },
);
