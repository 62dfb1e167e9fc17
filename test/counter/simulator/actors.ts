import { OrielError } from "../../../src/base/errors.ts";
import type { Counters } from "../../../src/counters/counter/counters.ts";
import { type Event, valuesFor } from "./books.ts";
import type { Actor, Stage } from "./stage.ts";

function isOlder({ plan, random }: Stage): boolean {
  return plan.isGrowing && random.chance(0.5);
}

/** A process that counts: one by one and in bursts. */
export async function produce(stage: Stage, actor: Actor): Promise<void> {
  const { world, random, plan } = stage;
  let counters = stage.open(actor, plan.replicas, isOlder(stage));
  while (!stage.isOver) {
    await world.sleep(random.int(1, 2 * plan.paceMs), actor.process);
    if (stage.isOver) return;
    let last: Promise<void> | undefined;
    for (let left = random.chance(0.2) ? random.int(2, 20) : 1; left > 0; left--) last = count(stage, actor, counters);
    if (random.chance(0.5)) await last;
    // Nobody gives again what a closed one counted.
    if (plan.failovers === 0 && random.chance(0.05)) {
      await counters.close();
      counters = stage.open(actor, plan.replicas, isOlder(stage));
    }
  }
}

async function count({ world, random, books, ...stage }: Stage, actor: Actor, counters: Counters): Promise<void> {
  const id = random.chance(0.15) ? `hot${random.int(0, 3)}` : `${actor.process.name}.${actor.sent.length}`;
  const at = world.nowMs - (random.chance(0.1) ? random.int(0, 600_000) : 0);
  const event: Event = { values: { site: random.pick(["A", "B"]), id }, at, count: random.int(1, 5) };
  const sent = books.open(event);
  sent.mayBeLost = false;
  actor.sent.push(sent);
  try {
    await counters.add(valuesFor(counters, event), { at, count: event.count });
    books.acknowledge(sent, world.nowMs);
    if (actor.process.state === "dead" && stage.failoverCount > 0) sent.mayBeLost = true;
  } catch (error) {
    if (!(error instanceof OrielError)) return world.violation(`add: ${error}`);
    sent.fate = error.applied;
    world.note(() => `${actor.process.name} ${sent.row}: ${error.code} ${error.applied}`);
  }
}

/** An owner of the source: others may be at work at the same time, and nobody cuts it alike. */
export async function own(stage: Stage, actor: Actor): Promise<void> {
  const { world, random, plan, source } = stage;
  const counters = stage.open(actor, plan.ownerReplicas, isOlder(stage));
  let at = source.reached;
  while (!stage.isOver) {
    await world.sleep(random.int(1, 3 * plan.paceMs), actor.process);
    if (stage.isOver) return;
    if (random.chance(0.05)) at = Math.max(0, at - random.int(1, 30));
    at = await give(stage, counters, at, at + random.int(1, 12));
  }
}

/** How far it came. */
export async function give(stage: Stage, counters: Counters, from: number, to: number): Promise<number> {
  const { source, world, plan } = stage;
  source.extend(to, world.nowMs);
  const events = source.events.slice(from, to).map((event) => ({
    values: valuesFor(counters, event),
    at: event.at,
    count: event.count,
  }));
  try {
    await counters.addBatch("q", from, events);
    source.acknowledge(from, to, world.nowMs);
    return to;
  } catch (error) {
    if (!(error instanceof OrielError)) world.violation(`addBatch: ${error}`);
    const { code, message } = error as OrielError;
    world.note(() => `source ${from} to ${to}: ${code} ${message}`);
    const mayBe = stage.failoverCount > 0 && plan.ownerReplicas === 0;
    if (code === "LOST" && !mayBe) world.violation(`nothing can be lost: ${message}`);
    return code === "LOST" ? 0 : from;
  }
}
