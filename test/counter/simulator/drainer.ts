import { OrielError } from "../../../src/base/errors.ts";
import { readShard, type ShardCounts } from "../../../src/counters/counter/read-shard.ts";
import { acknowledge, freeze, sweep } from "../../../src/counters/counter/steps/generations.ts";
import type { Actor, Stage } from "./stage.ts";

const FORGOTTEN_AFTER_MS = 3_600_000;

type Marks = Map<string, { place: string; sinceMs: number }>;

/** A drainer as simple as can be; others may be at work at the same time. */
export async function drain(stage: Stage, actor: Actor): Promise<void> {
  const { world, random, plan } = stage;
  const marks = stage.keys.map((): Marks => new Map());
  while (!stage.isOver) {
    await world.sleep(random.int(1, plan.isLong ? 1_200_000 : 8_000), actor.process);
    for (const shard of stage.keys.keys()) await drainShard(stage, actor, shard, marks[shard]!);
  }
}

export async function drainShard(stage: Stage, actor: Actor, shard: number, marks: Marks): Promise<void> {
  const { table, world } = stage;
  if (table.diverged.has(shard)) return;
  try {
    const left = await cycle(stage, actor, shard);
    if (left) await clean(stage, actor, shard, left, marks);
  } catch (error) {
    if (!(error instanceof OrielError && error.transient)) world.violation(`drain: ${error}`);
  }
}

async function cycle(stage: Stage, { store, process }: Actor, shard: number): Promise<ShardCounts | undefined> {
  const { world, random, table, layout, plan } = stage;
  const key = stage.keys[shard]!;
  const nonce = `${process.name}.${random.u32()}`;
  const look = () => store.run(freeze, key, { layout, nonce });
  const { failoverCount } = stage;
  const frozen = await look();
  if (plan.isWaiting) {
    await world.sleep(random.int(1, 50), process);
    if (stage.failoverCount !== failoverCount) return undefined; // another connection
    stage.replicate();
  }
  const diverged = (why: string) => {
    world.note(() => `shard ${shard} diverged: ${why}`);
    table.diverged.add(shard);
    return undefined;
  };
  const { generation, acknowledged } = frozen;
  if (!generation) {
    const last = table.generationOf(shard);
    if (last === acknowledged) return readShard(store, key, layout, "pages");
    const again = await look();
    const isNear = table.generationOf(shard) - again.acknowledged;
    return isNear === 0 || (isNear === 1 && again.generation) ? undefined : diverged(`${last}, ${acknowledged}`);
  }
  const whole = await readShard(store, key, layout, "pages");
  const rows = whole.counts.get(generation.number) ?? new Map<string, bigint>();
  const sum = [...rows.values()].reduce((total, count) => total + count, 0n);
  if (sum !== generation.sum) return undefined;
  await world.sleep(random.int(0, 200), process);
  const result = table.apply(shard, generation.number, generation.nonce, rows);
  world.note(() => `${process.name} drains ${shard} ${generation.number} ${generation.nonce}: ${result}`);
  if (result === "applied") stage.drainCount++;
  await world.sleep(random.int(0, 200), process);
  if (result === "behind") {
    const again = await look();
    return again.acknowledged >= generation.number ? undefined : diverged(`generation ${generation.number} is another`);
  }
  if (!stage.isOver && random.chance(0.1)) return undefined;
  const { number } = generation;
  if (!(await store.run(acknowledge, key, { layout, generation: number, nonce: generation.nonce }))) return undefined;
  return readShard(store, key, layout, "pages");
}

async function clean(
  { layout, keys, mutation }: Stage,
  { store, process }: Actor,
  shard: number,
  { leftovers, producers }: ShardCounts,
  marks: Marks,
): Promise<void> {
  const nowMs = process.monotonic();
  const fields = leftovers.flatMap((field) => [field, ""]);
  for (const mark of [...marks.keys()]) if (!producers.has(mark)) marks.delete(mark);
  for (const [mark, place] of producers) {
    const known = marks.get(mark);
    if (known?.place !== place) marks.set(mark, { place, sinceMs: nowMs });
    else if (nowMs - known.sinceMs >= (mutation?.forgottenAfterMs ?? FORGOTTEN_AFTER_MS)) fields.push(mark, place);
  }
  if (fields.length > 0) await store.run(sweep, keys[shard]!, { layout, fields });
}
