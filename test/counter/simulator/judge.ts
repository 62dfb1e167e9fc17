import { OrielError } from "../../../src/base/errors.ts";
import type { Shard } from "../../../src/counters/counter/steps/shard.ts";
import { shardOfRow, withoutColour, wrongCount } from "./books.ts";
import type { Actor, Stage } from "./stage.ts";

/** Table and store as they stand: what each row counts. */
function counted({ table, server, keys }: Stage): Map<string, bigint> {
  const sums = new Map(table.rows);
  for (const [shard, key] of keys.entries()) {
    const fields = (server.version(key)?.value as Shard | undefined)?.fields ?? new Map<string, string>();
    for (const [field, count] of fields) {
      const [, generation, row = ""] = /^(\d+)\|(.*)$/.exec(field) ?? [];
      if (generation === undefined || Number(generation) <= table.generationOf(shard)) continue;
      const name = withoutColour(row);
      sums.set(name, (sums.get(name) ?? 0n) + BigInt(count));
    }
  }
  return sums;
}

/** No event counts twice, and none is missing. Shards reported as diverged are not judged. */
export function judge(stage: Stage, isEnd: boolean): void {
  const { books, table, world, plan, failoverCount } = stage;
  const sums = counted(stage);
  for (const [row, count] of sums)
    if (!books.rows.has(row) && count !== 0n) world.violation(`${row} was never counted, and counts ${count}`);
  // A table that took what a failover took back is found out by its drainers, a little later.
  if (!isEnd && !plan.isWaiting && failoverCount > 0) return;
  for (const [row, all] of books.rows) {
    if (table.diverged.has(shardOfRow(row, plan.shards))) continue;
    const wrong = wrongCount(all, sums.get(row) ?? 0n, ({ mayBeLost }) => !mayBeLost && (isEnd || failoverCount === 0));
    if (!wrong) continue;
    world.violation(`${isEnd ? "at the end" : "meanwhile"}: ${wrong}`);
    return;
  }
}

/** Drainers that nothing disturbs get everything. */
export function judgeDrained({ keys, server, table, world }: Stage): void {
  for (const [shard, key] of keys.entries()) {
    const fields = (server.version(key)?.value as Shard | undefined)?.fields ?? new Map<string, string>();
    const left = [...fields.keys()].filter((field) => /^(@n:|@x:|\d+\|)/.test(field));
    if (left.length > 0 && !table.diverged.has(shard)) world.violation(`shard ${shard} is not drained: ${left}`);
  }
}

/** A process that asks, with the table: what was acknowledged before it asked has to be in the answer. */
export async function read(stage: Stage, actor: Actor): Promise<void> {
  const { world, random, plan } = stage;
  const counters = stage.open(actor);
  while (!stage.isOver) {
    await world.sleep(random.int(1, 20 * plan.paceMs), actor.process);
    if (stage.isOver) return;
    await readOnce(stage, counters);
  }
}

export async function readOnce(stage: Stage, counters: NonNullable<Actor["counters"]>, isEnd = false): Promise<void> {
  const { world, plan, table, books } = stage;
  const askedMs = world.nowMs;
  try {
    const rows = await counters.read({ table, bigint: true });
    if (table.diverged.size > 0 || (!isEnd && stage.failoverCount > 0)) return;
    const sums = new Map<string, bigint>();
    for (const { startMs, values, count } of rows) {
      const name = withoutColour([startMs / 60_000, ...Object.values(values)].join("|"));
      sums.set(name, (sums.get(name) ?? 0n) + count);
    }
    for (const [row, all] of books.rows) {
      const wrong = wrongCount(all, sums.get(row) ?? 0n, (one) =>
        isEnd ? !one.mayBeLost : one.acknowledgedAtMs < askedMs,
      );
      if (!wrong) continue;
      world.violation(`a reader gets: ${wrong}`);
      return;
    }
  } catch (error) {
    if (!(error instanceof OrielError)) return world.violation(`read: ${error}`);
    const isTrue = error.code === "DIVERGED" && stage.failoverCount > 0 && !plan.isWaiting;
    if (!error.transient && !isTrue) world.violation(`read: ${error.message}`);
  }
}
