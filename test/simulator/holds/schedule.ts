import { useHolds, useSoon } from "./actors.ts";
import type { Mutation } from "./mutations.ts";
import { type Plan, planOf } from "./plan.ts";
import { type Actor, Stage } from "./stage.ts";
import { inProcess, withChances, withProcessTimers } from "./timers.ts";
import { heal, planTroubles } from "./troubles.ts";

export interface Outcome {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly holds: number;
  readonly lost: number;
  readonly refused: number;
  readonly missedTrials: number;
  readonly failovers: number;
  readonly deaths: number;
}

export interface PlayOptions {
  tracing?: boolean;
  mutation?: Mutation | undefined;
  /** Conditions other than the seed's. */
  conditions?: Partial<Plan> | undefined;
}

/** The longest lease is of a second, and a repeated request may come 5 s late. */
const LONGEST_LEASE_MS = 1000;
/** The lease of the turn of a caller of `acquire`. */
const TURN_MS = 5000;
/** A dead waiter that is next costs one trial, and its other places cost nothing. A hold of a late copy of a request lasts. */
const MOST_TRIES = 6;
const AFTER_TRIAL_MS = 200;
/** A call may wait for 20 s, and for four answers afterwards. */
const LONGEST_CALL_MS = 45_000;
const LONGEST_LOOK_MS = 16_100;
const TICK_MS = 50;

/** Plays the schedule of one seed, until everybody is served. */
export async function playSchedule(seed: number, options: PlayOptions = {}): Promise<Outcome> {
  const plan = { ...planOf(seed), ...options.conditions };
  const stage = new Stage(plan, options.tracing ?? false, options.mutation);
  const { stackTraceLimit } = Error;
  // Many errors are part of the play; the stack of one that is not is seen when its seed is traced.
  if (!options.tracing) Error.stackTraceLimit = 0;
  const withoutProcessTimers = withProcessTimers();
  const withoutChances = withChances(stage.random.fork());
  try {
    return await play(stage);
  } finally {
    withoutChances();
    withoutProcessTimers();
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function play(stage: Stage): Promise<Outcome> {
  const { plan, world, books } = stage;
  world.note(() => JSON.stringify(plan));
  const begin = () => {
    const actor = stage.start();
    const callers = stage.actors.length === 1 ? Math.max(plan.crowd, plan.callerCount) : plan.callerCount;
    for (let i = 0; i < callers; i++) void inProcess(actor.process, () => useHolds(stage, actor));
    return actor;
  };
  for (let i = 0; i < plan.processCount; i++) begin();
  planTroubles(stage, begin);
  const until = async (endMs: number, isOver = () => false) => {
    while (world.nowMs < endMs && world.violations.length === 0 && !isOver()) {
      await world.run(Math.min(endMs, world.nowMs + TICK_MS));
      books.checkIdle();
    }
  };
  await until(stage.endMs);
  heal(stage);
  await until(stage.endMs + LONGEST_CALL_MS + stage.setBackMs, () => stage.openCallsOfLiving === 0);
  if (world.violations.length === 0) await endWell(stage, until);
  return {
    seed: plan.seed,
    violations: world.violations,
    trace: world.trace,
    holds: stage.holds,
    lost: stage.lost,
    refused: stage.refused,
    missedTrials: books.laws.missedTrials,
    failovers: stage.failoverCount,
    deaths: stage.actors.filter(({ process }) => process.state === "dead").length,
  };
}

/** Without troubles nobody waits for ever, and nothing stays held. */
async function endWell(stage: Stage, until: (endMs: number, isOver?: () => boolean) => Promise<void>): Promise<void> {
  const { world, books, server, plan } = stage;
  const isQuiet = plan.isCalm && plan.kills + plan.killsAtSend + plan.stepsBack === 0;
  if (isQuiet && (plan.lostNews === 0 || !plan.hasNews) && books.laws.missedTrials > 0)
    world.violation(`${books.laws.missedTrials} trials are missed, and all processes live and hear`);
  const longestLeaseMs = plan.kinds.some((kind) => kind.startsWith("acquire")) ? TURN_MS : LONGEST_LEASE_MS;
  if (stage.openCallsOfLiving > 0) world.violation(`${stage.openCallsOfLiving} calls have not ended`);
  const living = stage.actors.filter(({ process }) => process.state === "running");
  // When every lease has ended, a call that does not wait finds what is free, although others died while they waited.
  const restMs = longestLeaseMs + plan.weather.repeatedLateMs + plan.weather.slowMs + stage.setBackMs;
  await until(world.nowMs + restMs);
  const last = living[0] ?? stage.start();
  let isGot = false;
  for (let tries = 0; tries < MOST_TRIES && !isGot; tries++) {
    const trying = inProcess(last.process, () => useSoon(stage, last, 0));
    void trying.then((got) => {
      isGot ||= got;
    });
    await until(world.nowMs + (plan.isCalm ? AFTER_TRIAL_MS : longestLeaseMs));
  }
  if (!isGot) world.violation(`${MOST_TRIES} calls that do not wait get nothing, and all is free`);
  // All at once, and each with a long work behind it in the queue.
  let served = 0;
  let asked = 0;
  const serve = async (actor: Actor) => {
    asked++;
    if (!(await useSoon(stage, actor, 3_600_000)))
      world.violation(`in good weather ${actor.process.name} gets nothing`);
    served++;
  };
  const startMs = world.nowMs;
  for (const actor of [last, ...living.slice(1)])
    for (let i = 0; i < 3; i++) void inProcess(actor.process, () => serve(actor));
  // A hold that a late copy of a request has made lasts for its lease. A waiter that knows nothing of it looks 16 s later.
  const boundMs = 2 * longestLeaseMs + plan.weather.repeatedLateMs + stage.setBackMs + 2 * LONGEST_LOOK_MS;
  await until(startMs + boundMs, () => served === asked);
  if (served < asked) world.violation(`${asked - served} of ${asked} are not served within ${boundMs} ms`);
  await until(world.nowMs + restMs);
  for (const [key, { leases, waiting }] of books.laws.names) {
    const running = [...leases.values()].filter(({ untilMs }) => untilMs >= server.nowMs);
    if (running.length > 0) world.violation(`${key}: ${running.length} holds are left`);
    // A late copy of a request, or the give-back of one that a server did not answer, may leave a place. It costs others one trial.
    if (plan.isCalm && waiting.some(({ token }) => books.isOfLiving(token)))
      world.violation(`${key}: ${waiting.length} places are left`);
  }
}
