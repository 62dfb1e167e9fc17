import type { Actor, Stage } from "./stage.ts";
import { inProcess } from "./timers.ts";

/** Plans what will go wrong, and when. `begin` starts a process in place of one that has died. */
export function planTroubles(stage: Stage, begin: () => Actor): void {
  const { plan, world, random, server, books } = stage;
  const living = () => stage.actors.filter(({ process }) => process.state !== "dead");
  const sometime = (count: number, run: () => void) => {
    for (let i = 0; i < count; i++) world.after(random.int(1000, plan.durationMs), run);
  };
  /** All, or one of them. */
  const some = (isAll = false) => (isAll || living().length === 0 ? living() : [random.pick(living())]);
  const kill = ({ process }: Actor) => {
    if (process.state === "dead") return;
    process.kill();
    world.after(random.int(10, 2000), () => stage.isOver || begin());
  };
  const untilLater = (most: number) => world.nowMs + random.int(0, most);

  sometime(plan.kills, () => {
    for (const actor of some()) kill(actor);
  });
  sometime(plan.pauses, () => {
    for (const { process } of some()) {
      if (random.chance(0.5)) process.pause();
      else process.freeze(random.chance(0.5));
      world.after(random.int(0, random.pick([100, 500, 5000])), () => process.resume());
    }
  });
  sometime(plan.cuts, () => {
    for (const actor of some()) actor.cut();
  });
  sometime(plan.silences, () => {
    for (const { network } of some(random.chance(0.5))) network.silentUntilMs = untilLater(3000);
  });
  sometime(plan.refusals, () => {
    for (const { network } of some(random.chance(0.5))) network.refusingUntilMs = untilLater(3000);
  });
  sometime(plan.failovers, () => {
    const lost = server.failover(random.int(0, random.pick([1, 3, 12, 60])));
    server.sweep(); // else a key that has expired would be back when the clock is set back
    world.note(() => `failover: ${lost} steps are lost`);
    stage.failoverCount++;
    reconnect(stage);
    books.onLoss(plan.replicas);
  });
  sometime(plan.losses, () => {
    server.loseAll();
    world.note(() => "the server has lost its data");
    stage.failoverCount++;
    reconnect(stage);
    books.onLoss(0);
  });
  sometime(plan.stepsBack, () => {
    const ms = random.pick([1, 50, 1000, 5000]);
    server.offsetMs -= ms;
    stage.setBackMs += ms;
    books.onStepBack();
    world.note(() => `the server's clock is set back by ${ms} ms`);
  });
  sometime(plan.stepsAhead, () => {
    const ms = random.pick([1, 50, 1000, 5000]);
    server.offsetMs += ms;
    books.unsafeUntilMs = world.nowMs;
    world.note(() => `the server's clock is set ahead by ${ms} ms`);
  });
  sometime(plan.forced, () => {
    const { process, structures } = stage.operator;
    const lock = random.pick(structures.locks.slice(0, random.int(1, 3)));
    const isOfOne = random.chance(0.5);
    const force = async () => {
      const { fence } = isOfOne ? await lock.inspect() : { fence: null };
      if (!isOfOne || fence !== null) await lock.forceRelease(fence === null ? {} : { fence });
    };
    void inProcess(process, () => force().catch(() => {}));
  });
  stage.onSent = (process) => {
    const actor = stage.actors.find((each) => each.process === process);
    if (stage.isOver || !actor) return;
    if (random.chance(plan.killsAtSend)) world.after(random.int(0, 8), () => kill(actor));
    if (!random.chance(plan.freezesAtSend)) return;
    const lastsMs = random.int(0, random.pick([100, 1000, 5000]));
    world.after(random.int(0, 8), () => {
      process.freeze(random.chance(0.5));
      world.after(lastsMs, () => process.resume());
    });
  };
}

/** Connections to a server that is gone break, with what is under way. */
function reconnect({ actors }: Stage): void {
  for (const actor of actors) {
    actor.network.breakConnections();
    actor.cut();
  }
}

/** Everything works again, and stays so. */
export function heal(stage: Stage): void {
  stage.isHealed = true;
  for (const { network, process } of stage.actors) {
    Object.assign(network.weather, { lostRequest: 0, lostReply: 0, repeated: 0, slow: 0 });
    process.resume();
  }
}
