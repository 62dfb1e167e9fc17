import type { Stage } from "./stage.ts";

const LARGEST_STEP_MS = 6_000;
/** All steps together: the expiry's slack covers no more. */
const LARGEST_OFFSET_MS = 12_000;
/** Two steps never add up within the 20 s in which copies are told. */
const STEP_EVERY_MS = 30_000;

/** Plans what will go wrong, and when. */
export function planTroubles(stage: Stage): void {
  const { plan, world, random, network, server, ledger } = stage;
  const sometime = (count: number, run: () => void) => {
    for (let i = 0; i < count; i++) world.after(random.int(5_000, plan.durationMs), run);
  };
  const anyone = () => random.pick(stage.processes);

  for (let i = 0; i < plan.clockSteps; i++) {
    const delayMs = i * STEP_EVERY_MS + random.int(1_000, STEP_EVERY_MS / 2);
    world.after(delayMs, () => {
      const stepMs = random.int(-LARGEST_STEP_MS, LARGEST_STEP_MS);
      const offsetMs = Math.max(-LARGEST_OFFSET_MS, Math.min(LARGEST_OFFSET_MS, server.offsetMs + stepMs));
      world.note(() => `the server's clock steps from ${server.offsetMs} to ${offsetMs}`);
      server.offsetMs = offsetMs;
    });
  }
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

/** Everything works again, and stays so. */
export function heal({ network, processes }: Stage): void {
  Object.assign(network.weather, { lostRequest: 0, lostReply: 0, repeated: 0, slow: 0 });
  for (const process of processes) process.resume();
}
