import type { Stage } from "./stage.ts";
import type { SimStoreOptions } from "./world/store.ts";

/** All steps together: the expiry's slack covers no more. */
export const LARGEST_OFFSET_MS = 30_000;
const LONGEST_FREEZE_MS = 120_000;

/** Plans what will go wrong, and when. */
export function planTroubles(stage: Stage): void {
  const { plan, world, random, network, server, ledger } = stage;
  const sometime = (count: number, run: () => void) => {
    for (let i = 0; i < count; i++) world.after(random.int(5_000, plan.durationMs), run);
  };
  const anyone = () => random.pick(stage.processes);

  sometime(plan.clockSteps, () => stepClock(stage));
  sometime(plan.failovers, () => {
    const lost = ledger.failover(random.int(0, random.pick([1, 3, 12, 60])));
    if (random.chance(0.5)) network.refusingUntilMs = world.nowMs + random.int(0, 3_000);
    world.note(() => `failover: ${lost} steps are lost`);
    stage.failoverCount++;
  });
  sometime(plan.silences, () => {
    network.silentUntilMs = world.nowMs + random.int(0, 5_000);
  });
  sometime(plan.refusals, () => {
    network.refusingUntilMs = world.nowMs + random.int(0, 6_000);
  });
  sometime(plan.migrations, () => {
    network.migratingUntilMs = world.nowMs + random.int(0, 20_000);
  });
  sometime(plan.pauses, () => {
    const process = anyone();
    process.pause();
    world.after(random.int(0, random.pick([500, 5_000, 40_000])), () => process.resume());
  });
  sometime(plan.kills, () => anyone().kill());
  for (let delayMs = 1_000; delayMs < plan.durationMs; delayMs += 1_000) world.after(delayMs, () => server.sweep());
}

/** Sets the server's clock forward or back. */
function stepClock({ plan, world, random, server }: Stage): void {
  const stepMs = random.int(-plan.largestStepMs, plan.largestStepMs);
  const offsetMs = Math.max(-LARGEST_OFFSET_MS, Math.min(LARGEST_OFFSET_MS, server.offsetMs + stepMs));
  world.note(() => `the server's clock steps from ${server.offsetMs} to ${offsetMs}`);
  server.offsetMs = offsetMs;
}

/** What goes wrong while a call is under way. */
export function troublesOf(stage: Stage): NonNullable<SimStoreOptions["troubles"]> {
  const { plan, world, random } = stage;
  return {
    sent(process) {
      if (!random.chance(plan.freezes) || stage.isOver) return;
      const isCutOff = random.chance(0.7);
      const lastsMs = random.int(0, random.pick([2_000, 30_000, LONGEST_FREEZE_MS]));
      world.after(random.int(0, 5), () => {
        process.freeze(isCutOff);
        world.after(lastsMs, () => process.resume());
      });
    },
    unanswered() {
      if (random.chance(plan.stepsBetween) && !stage.isOver) stepClock(stage);
    },
  };
}

/** Everything works again, and stays so. */
export function heal({ network, processes }: Stage): void {
  Object.assign(network.weather, { lostRequest: 0, lostReply: 0, repeated: 0, slow: 0 });
  for (const process of processes) process.resume();
}
