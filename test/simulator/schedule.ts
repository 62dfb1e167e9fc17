import { ask, read, readAnew, sealChunks, visit, write } from "./actors.ts";
import { checkDeletions, checkEnd, checkKeys, checkNow } from "./laws/checks.ts";
import type { Mutation } from "./mutations/mutation.ts";
import { type Plan, planOf } from "./plan.ts";
import { Stage } from "./stage.ts";
import { law, packing } from "./subject.ts";
import { heal, planTroubles } from "./troubles.ts";

export interface Outcome {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly acknowledged: number;
  readonly answered: number;
  readonly degraded: number;
  readonly failed: number;
  readonly rotations: number;
  readonly failovers: number;
  readonly deletions: number;
  readonly virtualEvents: number;
  readonly seals: number;
  readonly droppedCopies: number;
}

export interface PlayOptions {
  tracing?: boolean;
  mutation?: Mutation | undefined;
  /** Conditions other than the seed's. */
  conditions?: Partial<Plan> | undefined;
}

/** Longest that anything sent in the schedule can still be under way after its end. */
const SETTLING_MS = 150_000;

/** Plays the schedule of one seed from its start to the expiry of its last key. */
export async function playSchedule(seed: number, options: PlayOptions = {}): Promise<Outcome> {
  const plan = { ...planOf(seed), ...options.conditions };
  const usual = { ...law };
  const { minEvents } = packing;
  const unpatch = options.mutation?.patch?.();
  const wall = { now: Date.now, random: Math.random, setTimeout: globalThis.setTimeout };
  const { stackTraceLimit } = Error;
  // Many errors are part of the play; the stack of one that is not is seen when its seed is traced.
  if (!options.tracing) Error.stackTraceLimit = 0;
  packing.minEvents = 1;
  Object.assign(
    law,
    { minSealedBytes: 0 },
    plan.upkeep,
    plan.sizes,
    { requestBytes: plan.requestBytes },
    options.mutation?.constants,
  );
  const stage = new Stage(plan, options.tracing ?? false, options.mutation);
  const chances = stage.random.fork();
  Date.now = () => stage.world.nowMs;
  Math.random = () => chances.u32() / 0x1_0000_0000;
  globalThis.setTimeout = ((run: () => void, delayMs: number) => {
    stage.world.after(delayMs, run);
    return {};
  }) as never;
  try {
    return await play(stage);
  } finally {
    Date.now = wall.now;
    Math.random = wall.random;
    globalThis.setTimeout = wall.setTimeout;
    Error.stackTraceLimit = stackTraceLimit;
    Object.assign(law, usual);
    packing.minEvents = minEvents;
    unpatch?.();
  }
}

async function play(stage: Stage): Promise<Outcome> {
  const { plan } = stage;
  const { world, random, calls, ledger } = stage;
  world.note(() => JSON.stringify(plan));
  checkDeletions(stage);
  for (let i = 0; i < plan.writerCount; i++) write(stage, stage.startProcess(`w${i}`));
  for (let i = 0; i < plan.visitorCount; i++) visit(stage, stage.startProcess(`v${i}`));
  for (let i = 0; i < plan.readerCount; i++) read(stage, stage.startProcess(`r${i}`));
  for (let i = 0; i < plan.sealerCount; i++) sealChunks(stage, stage.startProcess(`s${i}`));
  for (let i = 0; i < plan.newReaderCount; i++) readAnew(stage, stage.startProcess(`o${i}`));
  planTroubles(stage);

  while (!stage.isOver && world.violations.length === 0) {
    await world.run(Math.min(stage.endMs, world.nowMs + random.int(1_000, 20_000)));
    await checkNow(stage);
  }
  heal(stage);
  for (const handle of stage.handles) if (handle.process.state === "running") ask(stage, handle, handle.retentionMs);
  await world.run(stage.endMs + SETTLING_MS);
  calls.checkHanging(0);
  await checkNow(stage);
  checkEnd(stage);
  for (const handle of stage.handles) handle.series.close();
  await world.run(world.nowMs + plan.largerRetentionMs + SETTLING_MS);
  checkKeys(stage, true);
  return {
    seed: plan.seed,
    violations: world.violations,
    trace: world.trace,
    acknowledged: calls.acknowledged.size,
    answered: calls.answered,
    degraded: calls.degraded,
    failed: calls.failed,
    rotations: ledger.rotationCount,
    failovers: stage.failoverCount,
    deletions: ledger.deletionCount,
    virtualEvents: world.eventCount,
    seals: ledger.sealCount,
    droppedCopies: ledger.droppedCopies,
  };
}
