import { setTimeout as pause } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Load, load, quantile } from "../test/faults/outages/outage-load.ts";
import { clusterFrozen, httpRefused, type Outage, serverKilled } from "../test/faults/outages/outages.ts";
import { DEADLINE_MS, OUTAGE_RIVALS, type OutageClient, type OutageRival } from "./rivals/outage.ts";
import type { Report, Row } from "./runner/report.ts";

export interface OutageBench {
  perSecond: number;
  /** Calls from the moment when the outage is known. */
  outageMs: number;
  outages: readonly string[];
}

const OUTAGES: Record<string, () => Promise<Outage>> = {
  "one server, killed": serverKilled,
  "cluster of three, frozen": clusterFrozen,
  "HTTP, port refused": httpRefused,
};

export const FULL_OUTAGE: OutageBench = { perSecond: 1000, outageMs: 60_000, outages: Object.keys(OUTAGES) };
export const SMALL_OUTAGE: OutageBench = {
  perSecond: 200,
  outageMs: 100,
  outages: ["one server, killed", "HTTP, port refused"],
};

/** Time until all nodes are found to be down. */
const KNOWN_AFTER_MS = 3 * DEADLINE_MS;
/** The store is back after this many decisions in a row. The ids lie on all nodes. */
const DECISIONS_OF_STORE = 20;
const LONGEST_RETURN_MS = 30_000;

/** Measures limiters while their store is down: the time of each decision, the growth of the heap, and the time until the store decides again. */
export async function benchOutage(options: OutageBench): Promise<Report> {
  const able = OUTAGE_RIVALS.filter((rival) => rival.missing() === undefined);
  const rows: Row[] = [];
  for (const name of options.outages)
    for (const rival of able) {
      const row = await through(await OUTAGES[name]!(), rival, options);
      if (row) rows.push({ outage: name, limiter: rival.name, ...row });
    }
  return {
    bench: "outage",
    title: `Rate limiters while their store is down (${options.perSecond} calls a second for ${options.outageMs / 1000} s)`,
    rows,
    notes: [
      `firstMs is the slowest decision before the outage was known. The store's deadline is ${DEADLINE_MS} ms. p50Ms, p99Ms and maxMs cover all decisions after that.`,
      "heapKiB is the growth of the heap during the outage. backMs is the time from the end of the outage until the store decides again.",
      "Each limiter has an outage of its own. Every decision was checked: made without the store, and as the mode says.",
      "rate-limiter-flexible: one command at a time with ioredis's commandTimeout and without an offline queue; it has no HTTP store.",
      ...OUTAGE_RIVALS.flatMap((rival) => (rival.missing() ? [`${rival.name} was skipped: ${rival.missing()}.`] : [])),
    ],
  };
}

async function through(outage: Outage, rival: OutageRival, options: OutageBench): Promise<Row | undefined> {
  const client = rival.open(outage);
  try {
    if (!client) return undefined;
    await untilStoreDecides(client);
    await outage.begin();
    const knownMs = performance.now() + KNOWN_AFTER_MS;
    const first = await load(client, options.perSecond / 10, () => performance.now() > knownMs);
    const before = heapBytes();
    const endMs = performance.now() + options.outageMs;
    const made = await load(client, options.perSecond, () => performance.now() > endMs);
    const count = made.latenciesMs.length;
    check(rival, made);
    const row = {
      decisions: count,
      firstMs: Math.max(...first.latenciesMs),
      p50Ms: quantile(made.latenciesMs, 0.5),
      p99Ms: quantile(made.latenciesMs, 0.99),
      maxMs: made.latenciesMs.reduce((most, ms) => Math.max(most, ms), 0),
      // Two arrays of numbers, with room to grow.
      heapKiB: Math.max(0, heapBytes() - before - 2 * 12 * count) / 1024,
    };
    const backMs = performance.now();
    await outage.end();
    await untilStoreDecides(client);
    return { ...row, backMs: performance.now() - backMs };
  } finally {
    await client?.close();
    await outage.stop();
  }
}

function check({ name, allowsMeanwhile }: OutageRival, { latenciesMs, allowed, degraded }: Load): void {
  const count = latenciesMs.length;
  if (count === 0 || degraded !== count || allowed !== (allowsMeanwhile ? count : 0))
    throw new Error(`${name}: of ${count} decisions ${degraded} were made without the store, ${allowed} allowed`);
}

async function untilStoreDecides(client: OutageClient): Promise<void> {
  const endMs = performance.now() + LONGEST_RETURN_MS;
  for (let inRow = 0, n = 0; inRow < DECISIONS_OF_STORE; n++) {
    const { degraded } = await client.take(`back${n}`).catch(() => ({ degraded: true }));
    inRow = degraded ? 0 : inRow + 1;
    if (degraded) await pause(5);
    if (performance.now() > endMs) throw new Error(`the store decides nothing after ${LONGEST_RETURN_MS} ms`);
  }
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function heapBytes(): number {
  collect();
  return process.memoryUsage().heapUsed;
}
