import type { Handle } from "./handle.ts";
import type { Query } from "./laws/calls.ts";
import type { Stage } from "./stage.ts";
import { isExpected, NAME, sealOne } from "./subject.ts";
import type { SimProcess } from "./world/process.ts";

const MAX_OPEN_CALLS = 60;

/** A process that records: one by one, in bursts, in batches, with and without times of its own. */
export async function write(stage: Stage, process: SimProcess): Promise<void> {
  const { world, random, plan } = stage;
  const handle = stage.open(process, random.pick([plan.retentionMs, plan.largerRetentionMs]));
  if (handle.retentionMs > plan.retentionMs) await world.sleep(plan.lateRetentionMs, process);
  const restFromMs = stage.endMs - plan.durationMs / 2;
  while (!stage.isOver) {
    await world.sleep(random.int(1, 2 * plan.paceMs), process);
    if (plan.restMs > 0 && world.nowMs > restFromMs && world.nowMs < restFromMs + plan.restMs) continue;
    if (stage.isOver || handle.openCalls > MAX_OPEN_CALLS) continue;
    const calls = random.chance(0.1) ? random.int(2, 12) : 1;
    let last: Promise<void> | undefined;
    for (let i = 0; i < calls; i++) last = record(stage, handle);
    if (plan.hasDeletes && random.chance(0.01)) last = remove(stage, handle);
    if (random.chance(0.6)) await last;
  }
}

function record(stage: Stage, handle: Handle): Promise<void> {
  const { random, calls } = stage;
  const { series } = handle;
  const at = ownTimeIfAny(stage);
  const options = at === undefined ? {} : { at };
  const kind = random.int(0, 9);
  if (kind < 5) {
    const value = stage.freshValue();
    return calls.follow("record", handle, () => series.record(value, options), new Map([[value, at]]));
  }
  if (kind < 8) {
    const values: number[] = Array.from({ length: random.int(1, random.chance(0.05) ? 100 : 5) }, () =>
      stage.freshValue(),
    );
    const events = new Map(values.map((value) => [value, at] as const));
    return calls.follow("recordMany", handle, () => series.recordMany(values, options), events);
  }
  return recordAndGet(stage, handle, at);
}

function recordAndGet(stage: Stage, handle: Handle, at = ownTimeIfAny(stage)): Promise<void> {
  const value = stage.freshValue();
  const query = { spanMs: spanOf(stage, handle) };
  const options = { span: query.spanMs, percentiles: [50, 99], ...(at !== undefined && { at }) };
  const promise = () => handle.series.recordAndGet(value, options);
  return stage.calls.follow("recordAndGet", handle, promise, new Map([[value, at]]), query);
}

function ownTimeIfAny(stage: Stage): number | undefined {
  const { random, plan } = stage;
  return plan.clock === "event" || (plan.hasOwnTimes && random.chance(0.7)) ? ownTime(stage) : undefined;
}

/** Mostly of the last seconds, sometimes older than what is kept, sometimes ahead of the server. */
function ownTime({ world, random, plan }: Stage): number {
  const { retentionMs, clock } = plan;
  const nowMs = world.nowMs - (clock === "event" ? plan.eventLagMs : 0);
  const kind = random.int(0, 19);
  if (kind < 12) return nowMs - random.int(0, 3000);
  if (kind < 17) return nowMs - random.int(0, retentionMs);
  if (kind < 18) return nowMs - random.int(0, 2 * retentionMs);
  return nowMs + random.int(0, random.pick([2_000, 20_000, 70_000]));
}

function spanOf({ random }: Stage, { retentionMs }: Handle): number {
  const kind = random.int(0, 9);
  return kind < 4 ? retentionMs : random.int(1, kind < 7 ? Math.min(5_000, retentionMs) : retentionMs);
}

/** A process that asks now and then, with one Series object kept for the whole schedule. */
export async function read(stage: Stage, process: SimProcess): Promise<void> {
  const { world, random, plan } = stage;
  const handle = stage.open(process, random.pick([plan.retentionMs, plan.largerRetentionMs]));
  const paceMs = random.pick([300, 2_000, 8_000, plan.retentionMs]);
  while (!stage.isOver) {
    const isLong = random.chance(0.05);
    await world.sleep(random.int(1, isLong ? plan.retentionMs + 90_000 : 2 * paceMs), process);
    if (stage.isOver) return;
    const asked = random.chance(0.3) ? stage.open(process, handle.retentionMs, { isKept: false }) : handle;
    const last = ask(stage, asked);
    if (random.chance(0.2)) ask(stage, asked);
    await last;
    if (asked !== handle) asked.series.close();
  }
}

/** The process of a serverless function: each call opens the series anew, and ends soon. */
export async function visit(stage: Stage, process: SimProcess): Promise<void> {
  const { world, random, plan } = stage;
  while (!stage.isOver) {
    await world.sleep(random.int(1, 2 * plan.paceMs), process);
    if (stage.isOver) return;
    const handle = stage.open(process, plan.retentionMs, { isKept: false });
    const first = recordAndGet(stage, handle);
    if (random.chance(0.3)) recordAndGet(stage, handle);
    await first;
    handle.series.close();
  }
}

export function ask(stage: Stage, handle: Handle, spanMs = spanOf(stage, handle)): Promise<void> {
  const { random, calls } = stage;
  if (random.chance(0.3)) {
    const promise = () => handle.series.values({ span: spanMs });
    return calls.follow("values", handle, promise, undefined, { spanMs });
  }
  const query: Query = { spanMs };
  const promise = () => handle.series.stats({ span: spanMs, percentiles: [50, 99] });
  return calls.follow("stats", handle, promise, undefined, query);
}

async function remove(stage: Stage, handle: Handle): Promise<void> {
  const deletion = { startedMs: stage.world.nowMs, settledMs: Number.POSITIVE_INFINITY };
  handle.deletions.push(deletion);
  await stage.calls.follow("delete", handle, async () => {
    await handle.series.delete();
    deletion.settledMs = stage.world.nowMs;
  });
}

/** A process that seals closed chunks, most of the time the newest. */
export async function sealChunks(stage: Stage, process: SimProcess): Promise<void> {
  const { world, random, plan } = stage;
  const { store } = stage.open(process, plan.retentionMs);
  while (!stage.isOver) {
    await world.sleep(random.int(1, 2 * plan.sealPaceMs), process);
    if (stage.isOver) return;
    const pause = () => world.sleep(random.int(0, random.pick([0, plan.sealThinkMs])), process);
    try {
      const outcome = await sealOne(store, store.keyOf(NAME), random.pick([0, 0, 0, 1, 2, 5]), pause);
      world.note(() => `${process.name} seal: ${outcome}`);
    } catch (error) {
      world.note(() => `${process.name} seal: ${error}`);
      if (!isExpected(error)) world.violation(`a sealer failed with ${(error as Error)?.stack ?? error}`);
    }
  }
}

/** A process of which each question, or each two or three, is of a series opened anew: it answers from outlines at first. */
export async function readAnew(stage: Stage, process: SimProcess): Promise<void> {
  const { world, random, plan, calls } = stage;
  while (!stage.isOver) {
    await world.sleep(random.int(1, 2 * plan.paceMs), process);
    if (stage.isOver) return;
    const handle = stage.open(process, plan.retentionMs, { isKept: false });
    for (let asked = random.int(1, 3); asked > 0; asked--) {
      const spanMs = random.chance(0.5) ? plan.retentionMs : random.int(1, plan.retentionMs);
      const options = { span: spanMs, percentiles: [0, 50, 99], method: "inverted_cdf" } as const;
      const promise = () => handle.series.stats(options);
      await calls.follow("stats of a new reader", handle, promise, undefined, { spanMs, hasRanks: true });
    }
    handle.series.close();
  }
}
