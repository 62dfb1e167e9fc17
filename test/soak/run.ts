import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { startRedis } from "../harness/servers/redis-server.ts";
import { until } from "../harness/until.ts";
import { Auditor } from "./audit.ts";
import { judgeMemory } from "./bounds.ts";
import { Crew } from "./crew.ts";
import { judgeKeys, type KeyReport } from "./keys.ts";
import { CLOCK_SLACK_MS, SoakLedger } from "./ledger.ts";
import type { Sample } from "./memory/memory.ts";
import type { SoakPlan } from "./plan.ts";

export interface SoakOutcome {
  /** From the start of the first process until the last was killed. */
  loadedMs: number;
  ledger: SoakLedger;
  crew: Crew;
  auditor: Auditor;
  keys: KeyReport;
  server: { samples: Sample[]; after: Sample; expired: number; evicted: number };
  /** Keys left when all should have expired. Undefined without the wait. */
  left: number | undefined;
  wrong: string[];
}

/** A busy machine needs longer until there is enough to judge. */
const LONGEST_WAIT_MS = 300_000;
const SEVERAL_CHUNKS_MS = 4000;

/** Loads its own Redis with processes, kills them, judges reads during the load, and judges everything at the end. */
export async function soak(plan: SoakPlan): Promise<SoakOutcome> {
  const server = await startRedis();
  const redis = new Redis(server.url);
  try {
    return await play(plan, server.url, redis);
  } finally {
    redis.disconnect();
    await server.stop();
  }
}

async function play(plan: SoakPlan, url: string, redis: Redis): Promise<SoakOutcome> {
  const ledger = new SoakLedger(plan.series);
  const auditor = new Auditor(redis, ledger, plan.series);
  const samples = [await usedMemory(redis)];
  const crew = new Crew(url, plan, ledger);
  let isOver = false;
  const meanwhile = Promise.all([
    auditor.audit(() => isOver),
    every(
      1000,
      () => isOver,
      async () => void samples.push(await usedMemory(redis)),
    ),
    kill(plan, crew, () => isOver),
  ]);
  try {
    await Promise.race([pause(plan.seconds * 1000), meanwhile]);
    const isEnough = () =>
      crew.isAtWork &&
      Date.now() - crew.firstAnswerMs > SEVERAL_CHUNKS_MS &&
      ledger.acknowledged >= plan.minEvents &&
      crew.compared > 0 &&
      (crew.kills > 0 || plan.killEveryMs === 0);
    await Promise.race([until("there is enough to judge", isEnough, LONGEST_WAIT_MS), meanwhile]);
    isOver = true;
    await meanwhile;
  } finally {
    isOver = true;
    await crew.killAll();
  }
  const loadedMs = Date.now() - crew.startedMs;
  // Requests of a killed process may still be on their way to the server.
  await until("the killed are gone", async () => (await infoOf(redis, "clients", "connected_clients")) === 1);
  samples.push(await usedMemory(redis));
  // Then the last acknowledged event is certainly inside.
  await pause(2 * CLOCK_SLACK_MS);
  await auditor.settle();
  const keys = await judgeKeys(redis);
  const left = plan.seesEnd ? await leftAfter(keys.lastExpiryMs, redis) : undefined;
  const after = await usedMemory(redis);
  const outcome = {
    loadedMs,
    ledger,
    crew,
    auditor,
    keys,
    left,
    server: {
      samples,
      after,
      expired: await infoOf(redis, "stats", "expired_keys"),
      evicted: await infoOf(redis, "stats", "evicted_keys"),
    },
  };
  const ofEnd = left ? [`${left} keys are left when all should have expired`] : [];
  return {
    ...outcome,
    wrong: [
      ...crew.wrong,
      ...auditor.wrong,
      ...keys.wrong,
      ...ofEnd,
      ...judgeMemory(plan, crew, outcome.server.samples, keys),
    ],
  };
}

async function kill(plan: SoakPlan, crew: Crew, isOver: () => boolean): Promise<void> {
  if (plan.killEveryMs > 0) await every(plan.killEveryMs, isOver, () => crew.killOne());
}

/** Between half and one and a half times the interval apart, until over. */
async function every(intervalMs: number, isOver: () => boolean, act: () => Promise<void>): Promise<void> {
  while (!isOver()) {
    await act();
    const untilMs = performance.now() + intervalMs * (0.5 + Math.random());
    while (!isOver() && performance.now() < untilMs) await pause(50);
  }
}

async function leftAfter(lastExpiryMs: number, redis: Redis): Promise<number> {
  await pause(Math.max(0, lastExpiryMs - Date.now()) + 1000);
  // The server removes expired keys a few at a time, when it is idle or accesses one.
  let cursor = "0";
  do [cursor] = await redis.scan(cursor, "COUNT", 5000);
  while (cursor !== "0");
  return redis.dbsize();
}

async function infoOf(redis: Redis, section: string, field: string): Promise<number> {
  return Number(new RegExp(`^${field}:(\\d+)`, "m").exec(await redis.info(section))![1]);
}

async function usedMemory(redis: Redis): Promise<Sample> {
  return { atMs: Date.now(), bytes: await infoOf(redis, "memory", "used_memory"), things: await redis.dbsize() };
}
