import type { Handle } from "../handle.ts";
import type { Stage } from "../stage.ts";
import { LARGEST_OFFSET_MS } from "../troubles.ts";
import { turn, type World } from "../world/world.ts";
import type { Calls } from "./calls.ts";
import type { Ledger } from "./ledger.ts";

const MAX_TURNS = 2_000;
/** Retention + chunkMs + 60 s, up to a whole second, after a stamp that may itself be a clock step ahead. */
const SLACK_MS = 61_000 + 2 * LARGEST_OFFSET_MS;

/**
 * The world stands still. Queries are answered at once and without faults, and all messages of other processes wait. Every
 * resident copy and a new reader must give the same answer.
 */
export async function checkNow(stage: Stage): Promise<void> {
  const { world, plan, random } = stage;
  stage.calls.checkHanging();
  checkKeys(stage);
  const oracle = stage.startProcess("oracle");
  stage.processes.pop();
  for (const retentionMs of new Set([plan.retentionMs, plan.largerRetentionMs])) {
    const fresh = stage.open(oracle, retentionMs, { isKept: false });
    fresh.name = "fresh";
    const idle = stage.handles.filter(
      (one) => one.process.state === "running" && isIdle(one) && one.retentionMs === retentionMs,
    );
    for (const spanMs of [random.int(1, retentionMs), retentionMs]) {
      const wanted = await askAtOnce(stage, fresh, spanMs);
      for (const handle of idle) {
        const answer = await askAtOnce(stage, handle, spanMs);
        if (answer === "local") continue;
        // A process that saw the lost events reports "lost". A new reader cannot know. The numbers are the same.
        if (answer.replace(/^lost /, "") !== wanted && wanted !== "degraded")
          world.violation(`${handle.name} answers ${answer} where a fresh reader answers ${wanted}, span ${spanMs}`);
      }
    }
    fresh.series.close();
  }
}

/** Nothing under way: neither a call nor what a call that has failed left behind. */
function isIdle({ openCalls, store }: Handle): boolean {
  return openCalls === 0 && store.inFlight === 0;
}

/** The parts of an answer that must be equal to the bit, as text. */
async function askAtOnce(stage: Stage, handle: Handle, spanMs: number): Promise<string> {
  handle.store.isInstant = true;
  let answer = "nothing";
  const statistics = async () => {
    const reported = await handle.series.stats({ span: spanMs, percentiles: [0, 37, 50, 99, 100] });
    const { count, sum, min, max, percentiles, degraded } = reported;
    // A resident copy may hold events that the store has dropped. Both answers are degraded then.
    const numbers = JSON.stringify({ count, sum, min, max, percentiles });
    if (reported.degradedBy === "local") answer = "local";
    else answer = reported.degradedBy === "lost" && handle.isKept ? `lost ${numbers}` : degraded ? "degraded" : numbers;
    return reported;
  };
  await atOnce(stage, handle, stage.calls.follow("stats at a standstill", handle, statistics, undefined, { spanMs }));
  const events = () => handle.series.values({ span: spanMs });
  await atOnce(stage, handle, stage.calls.follow("values at a standstill", handle, events, undefined, { spanMs }));
  handle.store.isInstant = false;
  return answer;
}

async function atOnce(stage: Stage, handle: Handle, call: Promise<void>): Promise<void> {
  let isOpen = true;
  call.finally(() => {
    isOpen = false;
  });
  for (let i = 0; isOpen && i < MAX_TURNS; i++) await turn();
  if (isOpen) stage.world.violation(`${handle.name} does not answer although every step is answered at once`);
}

/** Every key has an expiry, none further off than the law says; at the end none is left. */
export function checkKeys({ server, world, plan }: Stage, isEnd = false): void {
  const chunkMs = Math.max(1000, Math.ceil(plan.largerRetentionMs / 64));
  const latestMs = world.nowMs + plan.largerRetentionMs + chunkMs + SLACK_MS;
  for (const [key, { expireAtMs }] of server.versions()) {
    if (isEnd) world.violation(`${key} is still there after the last expiry`);
    else if (!(expireAtMs <= latestMs)) world.violation(`${key} expires ${expireAtMs - world.nowMs} ms from now`);
  }
}

/** Checks the ledger once everything has settled. */
export function checkEnd({ calls, ledger, world, plan }: Stage): void {
  for (const value of calls.refused)
    if (ledger.fates.has(value)) world.violation(`event ${value} was refused as not applied, and is stored`);
  for (const value of ledger.fates.keys())
    if (!calls.recordedMs.has(value)) world.violation(`event ${value} is stored and was never recorded`);
  checkKept(calls, ledger, world);
  // A failover that undoes a deletion may lose what that had cut off.
  if (plan.modes.replicas === 0 || plan.hasDeletes) return;
  for (const value of calls.acknowledged)
    if (ledger.fates.get(value)?.state === "lost")
      world.violation(`event ${value} was lost by a failover, and a replica had it`);
}

/** Every event that a process kept is in the store by now, or was reported. */
function checkKept({ keepers }: Calls, { fates }: Ledger, world: World): void {
  for (const { name, process, kept, givenUp, deletions } of keepers) {
    // A deletion drops what is kept, too.
    if (process.state !== "running" || deletions.length > 0) continue;
    const missing = [...kept].filter((value) => !fates.has(value));
    if (missing.length > givenUp)
      world.violation(
        `${name} kept events ${missing.slice(0, 8)}, gave up ${givenUp}, and ${missing.length} are missing`,
      );
  }
}

/** A deletion takes nothing that was recorded after it had been answered. */
export function checkDeletions({ ledger, calls, world }: Stage): void {
  ledger.isAcknowledged = (value) => calls.acknowledged.has(value);
  ledger.onDeleted = ({ origin }, values) => {
    const { deletions, name } = origin as Handle;
    const untilMs = Math.max(...deletions.map((one) => one.settledMs));
    const wrong = values.filter((value) => calls.recordedMs.get(value)! > untilMs);
    if (wrong.length > 0)
      world.violation(`a deletion of ${name}, answered long ago, takes events ${wrong.slice(0, 8)}`);
  };
}
