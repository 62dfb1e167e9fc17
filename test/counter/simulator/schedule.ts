import { failoverTimes } from "../../../src/counters/counter/format/layout.ts";
import { give, own, produce } from "./actors.ts";
import { drain, drainShard } from "./drainer.ts";
import { judge, judgeDrained, read, readOnce } from "./judge.ts";
import type { Mutation } from "./mutations.ts";
import { type Plan, planOf } from "./plan.ts";
import { Stage } from "./stage.ts";
import { heal, planTroubles } from "./troubles.ts";

export interface Outcome {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly acknowledged: number;
  readonly drained: number;
  readonly failovers: number;
  readonly diverged: number;
  readonly losses: number;
}

export interface PlayOptions {
  tracing?: boolean;
  mutation?: Mutation | undefined;
  conditions?: Partial<Plan> | undefined;
}

const SETTLING_MS = 90_000;

export async function playSchedule(seed: number, options: PlayOptions = {}): Promise<Outcome> {
  const { mutation, tracing = false } = options;
  const plan = { ...planOf(seed), ...options.conditions };
  const stage = new Stage(plan, tracing, mutation);
  const usual = { ...failoverTimes };
  const { now } = Date;
  const { stackTraceLimit } = Error;
  if (!tracing) Error.stackTraceLimit = 0;
  Object.assign(failoverTimes, mutation?.constants);
  const unpatch = mutation?.patch?.();
  Date.now = () => stage.world.nowMs + stage.wallOffsetMs;
  try {
    await play(stage);
  } finally {
    Date.now = now;
    Error.stackTraceLimit = stackTraceLimit;
    Object.assign(failoverTimes, usual);
    unpatch?.();
  }
  const { world, books, table } = stage;
  return {
    seed,
    violations: world.violations,
    trace: world.trace,
    acknowledged: books.acknowledged,
    drained: stage.drainCount,
    failovers: stage.failoverCount,
    diverged: table.diverged.size,
    losses: stage.lossCount,
  };
}

async function play(stage: Stage): Promise<void> {
  const { plan, world, random } = stage;
  world.note(() => JSON.stringify(plan));
  for (let i = 0; i < plan.producerCount; i++) stage.start("producer", produce);
  for (let i = 0; i < plan.ownerCount; i++) stage.start("owner", own);
  for (let i = 0; i < plan.drainerCount; i++) stage.start("drainer", drain);
  for (let i = 0; i < plan.readerCount; i++) stage.start("reader", read);
  planTroubles(stage);
  while (!stage.isOver && world.violations.length === 0) {
    await world.run(Math.min(stage.endMs, world.nowMs + random.int(1_000, plan.durationMs / 4)));
    judge(stage, false);
  }
  heal(stage);
  // Idle: a process that lost an answer repeats its request by itself.
  await world.run(world.nowMs + SETTLING_MS);
  if (world.violations.length === 0) await settle(stage);
}

async function settle(stage: Stage): Promise<void> {
  const { world, books, source, plan } = stage;
  const last = stage.start("last", async () => {});
  heal(stage);
  const counters = stage.open(last);
  const { length } = source.events;
  if (length > 0) {
    const replay = async () => {
      for (let at = 0; at < length; ) at = await give(stage, counters, at, Math.min(length, at + 100));
    };
    await finish(stage, replay());
    if (plan.ownerReplicas === 0 && stage.failoverCount > 0) source.excuse();
  }
  for (const { process, counters } of [...stage.actors])
    if (process.state === "running" && counters && counters !== last.counters) await finish(stage, counters.close());
  // A table that took what a failover took back is found out when it is drained the next time.
  if (plan.isWaiting || stage.failoverCount === 0) judge(stage, true);
  for (const one of [...books.rows.values()].flat())
    if (one.fate === "open" && !isOfTheDead(stage, one)) world.violation(`${one.row} was never answered`);
  if (plan.drainerCount > 0)
    for (let turn = 0; turn < 3; turn++)
      for (const shard of stage.keys.keys()) await finish(stage, drainShard(stage, last, shard, new Map()));
  judge(stage, true);
  if (plan.drainerCount > 0) judgeDrained(stage);
  await finish(stage, readOnce(stage, counters, true));
  await finish(stage, counters.close());
}

function isOfTheDead({ actors }: Stage, one: object): boolean {
  return actors.some(({ process, sent }) => process.state === "dead" && sent.includes(one as never));
}

async function finish({ world }: Stage, promise: Promise<unknown>): Promise<void> {
  let isOpen = true;
  promise.finally(() => {
    isOpen = false;
  });
  for (let i = 0; i < 600 && isOpen; i++) await world.run(world.nowMs + 100);
  if (isOpen) world.violation("something hangs, although all works");
}
