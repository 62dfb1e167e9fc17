import type { Stage } from "./stage.ts";

/** After 20 minutes a producer cannot know whether its mark expired or was lost, and reports that. */
const LARGEST_OFFSET_MS = 500_000;

/** Plans what will go wrong, and when. */
export function planTroubles(stage: Stage): void {
  const { plan, world, random, server } = stage;
  const hourMs = plan.isLong ? 3_600_000 : 0;
  const sometime = (count: number, run: () => void) => {
    for (let i = 0; i < count; i++) world.after(random.int(2_000, plan.durationMs), run);
  };
  const anyone = () => random.pick(stage.actors);
  const silence = (ms: number) => {
    for (const { network } of stage.actors) network.silentUntilMs = world.nowMs + ms;
  };

  sometime(plan.failovers, () => {
    const lost = stage.failover(random.int(0, random.pick([1, 3, 12, 60])));
    const outageMs = random.pick([0, random.int(0, 3_000), random.int(0, 20_000)]);
    for (const { network } of stage.actors) network.refusingUntilMs = world.nowMs + outageMs;
    world.note(() => `failover: ${lost} steps are lost, ${outageMs} ms away`);
    if (random.chance(0.2)) world.after(random.int(0, 3_000), () => void stage.failover(random.int(1, 12)));
  });
  sometime(plan.clockSteps, () => {
    if (random.chance(0.5)) server.offsetMs = random.int(-60_000, 60_000);
    else stage.wallOffsetMs = random.int(-1, 1) * random.int(0, LARGEST_OFFSET_MS + hourMs);
  });
  sometime(plan.silences, () => silence(random.int(0, 5_000)));
  sometime(plan.fullTimes, () => {
    stage.fullUntilMs = world.nowMs + random.int(100, 10_000);
  });
  sometime(plan.partitions, () => {
    const { network, process } = anyone();
    const { weather } = network;
    const { lostRequest, lostReply } = weather;
    Object.assign(weather, random.pick([{ lostRequest: 1 }, { lostReply: 1 }]));
    const ms = random.int(0, 20_000) + random.int(0, 2 * hourMs);
    world.note(() => `${process.name} is cut off for ${ms} ms: ${JSON.stringify(weather)}`);
    world.after(ms, () => Object.assign(weather, { lostRequest, lostReply }));
  });
  sometime(plan.pauses, () => {
    const { process } = anyone();
    process.pause();
    world.after(random.int(0, random.pick([500, 5_000, 40_000])) + random.int(0, 2 * hourMs), () => process.resume());
  });
  sometime(plan.kills, () => {
    const { process, role, sent } = anyone();
    if (process.state === "dead") return;
    process.kill();
    // A later failover may lose its latest counts.
    for (const one of sent) if (plan.failovers > 0) one.mayBeLost = true;
    const name = process.name.replace(/\d+$/, "");
    world.after(random.int(0, 10_000), () => void stage.start(name, role));
  });
}

/** Everything works again, and stays so. */
export function heal({ actors, world, ...stage }: Stage): void {
  stage.fullUntilMs = 0;
  for (const { network, process } of actors) {
    Object.assign(network.weather, { lostRequest: 0, lostReply: 0, repeated: 0, slow: 0 });
    network.refusingUntilMs = Math.min(network.refusingUntilMs, world.nowMs);
    process.resume();
  }
}
