import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Cluster } from "ioredis";
import { createClient } from "redis";
import { afterEach, expect, test } from "vitest";
import {
  fixedWindow,
  httpStore,
  Limiter,
  localDecisions,
  redisStore,
  type StoreEvents,
  type WatchedStore,
} from "../../../src/entries/index.ts";
import { atEnd } from "../../harness/ends.ts";
import { until } from "../../harness/until.ts";
import { type Load, load, quantile, Turns } from "./outage-load.ts";
import { clusterFrozen, httpRefused, type Outage, serverFrozen, serverKilled } from "./outages.ts";

/** A minute of it: ORIEL_OUTAGE_MS=60000. */
const OUTAGE_MS = Number(process.env.ORIEL_OUTAGE_MS ?? 1500);
const PER_SECOND = 1000;
const DEADLINE_MS = 300;

interface Stage {
  store: WatchedStore;
  outage: Outage;
  close(): Promise<unknown> | unknown;
}

const opened: Stage[] = [];
afterEach(async () => {
  for (const { store, outage, close } of opened.splice(0)) {
    await store.close();
    await close();
    await outage.stop();
  }
});

/** Each begins with a store that works. */
const stages: Record<string, () => Promise<Stage>> = {
  "one server, killed and started again empty": async () => {
    const outage = await serverKilled();
    return { outage, store: redisStore(outage.urls[0]!, { deadline: DEADLINE_MS }), close: () => {} };
  },
  "one server that stands still, behind a client of node-redis": async () => {
    const outage = await serverFrozen();
    const client = createClient({ url: outage.urls[0]! });
    client.on("error", () => {});
    return { outage, store: redisStore(client, { deadline: DEADLINE_MS }), close: () => client.destroy() };
  },
  "a cluster of three that stands still": async () => {
    const outage = await clusterFrozen();
    const client = new Cluster([...outage.urls], { slotsRefreshTimeout: 3000 });
    client.on("error", () => {});
    return { outage, store: redisStore(client, { deadline: DEADLINE_MS }), close: () => client.disconnect() };
  },
  "HTTP, of which the port refuses": async () => {
    const outage = await httpRefused();
    return { outage, store: httpStore({ ...outage.http!, deadline: DEADLINE_MS }), close: () => {} };
  },
};

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

/** The requests that decisions waited for: those of one turn share it. */
function askedIn(loads: readonly Load[]): { fromTurn: number; toTurn: number }[] {
  const asked = new Map<number, { fromTurn: number; toTurn: number }>();
  for (const each of loads.flatMap(({ waited }) => waited)) {
    const { fromTurn } = each;
    const toTurn = Math.max(each.toTurn, asked.get(fromTurn)?.toTurn ?? 0);
    asked.set(fromTurn, { fromTurn, toTurn });
  }
  return [...asked.values()];
}

const mostAtOnce = (asked: ReturnType<typeof askedIn>) =>
  Math.max(0, ...asked.map(({ fromTurn: at }) => asked.filter((one) => one.fromTurn <= at && at < one.toTurn).length));

test.each(Object.keys(stages))(
  "an outage costs one deadline, not one per call: %s",
  { timeout: 300_000 + 2 * OUTAGE_MS },
  async (name) => {
    const stage = await stages[name]!();
    opened.push(stage);
    const { store } = stage;
    const events: [string, StoreEvents["down"] | StoreEvents["up"]][] = [];
    store.on("down", (event) => events.push(["down", event]));
    store.on("up", (event) => events.push(["up", event]));
    const policies = [fixedWindow({ limit: 1e6, span: "1h" })];
    const limiterOf = (name: "local" | "allow" | "deny") =>
      new Limiter(store, policies, { name, onStoreError: name === "local" ? localDecisions() : name });
    const limiters = (["local", "allow", "deny"] as const).map(limiterOf);
    await until("it works", async () => {
      const reported = await Promise.all(Array.from({ length: 50 }, (_, i) => limiters[0]!.peek(`id${i}`)));
      return reported.every(({ degraded }) => !degraded);
    });
    expect(store.health).toMatchObject({ state: "up", reason: undefined });
    const strict = new Limiter(store, policies, { name: "strict" });

    await until("it is up", () => store.health.state === "up");
    events.length = 0; // a busy machine may have let a deadline go by
    const turns = new Turns();
    atEnd(() => turns.end());
    await stage.outage.begin();
    let isOver = false;
    const deadlines = limiters.map((limiter) => load(limiter, PER_SECOND / 10, () => isOver));
    // A cluster's nodes are found out each by itself.
    const servers = Math.max(1, stage.outage.urls.length);
    await until("all is known", () => new Set(events.map(([, { address }]) => address)).size === servers);
    isOver = true;
    await Promise.all(deadlines);
    expect(store.health.reason).toEqual(expect.any(String));

    const before = heapBytes();
    const endMs = performance.now() + OUTAGE_MS;
    const loads = await Promise.all(
      limiters.map((each) => load(each, PER_SECOND / 3, () => performance.now() > endMs, turns)),
    );
    const latenciesMs = loads.flatMap((each) => each.latenciesMs);
    expect(latenciesMs.length).toBeGreaterThan(20);
    expect(loads.reduce((sum, { degraded }) => sum + degraded, 0)).toBe(latenciesMs.length);
    // Only what asks in place of a probe whose timer is late waits: the calls of one turn, and those of no other one meanwhile.
    const asked = askedIn(loads);
    expect(asked.length).toBeLessThanOrEqual(turns.stalls);
    expect(mostAtOnce(asked)).toBeLessThanOrEqual(servers);
    const p99Ms = quantile(latenciesMs, 0.99);
    if (OUTAGE_MS >= 60_000)
      process.stdout.write(`${name}: p99 ${p99Ms.toFixed(3)} ms of ${latenciesMs.length} decisions\n`);
    await until("a call fails at once", async () => {
      const error = await strict.take("a").catch((reason) => reason);
      expect(error).toMatchObject({ code: "UNAVAILABLE", applied: "no", transient: true });
      return true;
    });
    // The array of numbers is kept twice, with room to grow.
    const grownBytes = heapBytes() - before - 2 * 12 * latenciesMs.length;
    expect(grownBytes).toBeLessThan(8 << 20);

    // Reported once for each node of a cluster.
    expect(new Set(events.map(([event, { address }]) => `${event} ${address}`)).size).toBe(events.length);
    expect(events.every(([event]) => event === "down")).toBe(true);
    expect(events[0]).toMatchObject(["down", { reason: expect.any(String), since: expect.any(Number) }]);

    await stage.outage.end();
    await until("it is back", () => store.health.state === "up");
    await until("it decides", async () => {
      const reported = await Promise.all(Array.from({ length: 50 }, (_, i) => strict.take(`id${i}`)));
      return reported.every(({ allowed }) => allowed);
    });
    expect(events).toContainEqual(["up", expect.objectContaining({ downMs: expect.any(Number) })]);
  },
);
