import type { Keyspace } from "../../store/contract.ts";
import { isStoreFull } from "../../store/memory/full.ts";
import { rawEnvelope } from "../format/envelope.ts";
import {
  addedAtMs,
  BAND_SIZE,
  CLAIMED,
  DEAD,
  DONE,
  idOf,
  MOST_REMEMBERED,
  memberOf,
  readScore,
  scoreOf,
  seqOf,
  storedValueOf,
} from "../format/layout.ts";
import { errorBytes, FAILED, keep, type Shard, shardAt, tell } from "../format/shard.ts";
import { claimAll } from "./claim-all.ts";
import type { Fate, Result, Turn, Turned } from "./exchange.ts";

const FORGET_EVERY_MS = 17;
const FORGET_AT = 16;

/** The twin of lua/queue/turn.lua. */
export function takeTurn(keys: Keyspace, key: string, asked: Turn, nowMs: number): Turned {
  const { layout, results } = asked;
  const shard = shardAt(keys, key, layout);
  const isThere = shard.layout !== undefined;
  const hasRoom = isThere && keepWithErrors(keys, key, shard, results);
  const head = shard.head();
  const seen = new Set<string>();
  // Compared with the state before the first result.
  const wereBefore = results.map((result) => isAsSaid(shard, result));
  const fates = results.map((result, i): Fate => {
    const { member } = result;
    if (seen.has(member)) return "stale";
    if (!isClaimedBy(shard, result)) return wereBefore[i] ? "before" : "stale";
    keepResult(shard, hasRoom ? result : withoutWhy(result), asked.dedupeMs, nowMs);
    seen.add(member);
    return "kept";
  });
  const first = Math.min(
    ...results.map((result, i) => (fates[i] === "kept" ? retriedAtMs(result, nowMs) : Number.POSITIVE_INFINITY)),
  );
  if (first < head) tell(keys, key, readScore(scoreOf(0, first, 0)).ms);
  const done = results.filter(({ verb }) => verb === "done").length;
  if (done >= FORGET_AT || (done > 0 && nowMs % FORGET_EVERY_MS === 0)) forget(shard, nowMs, done);

  const most = shard.isPaused ? 0 : asked.most;
  const { claims, died } = claimAll(shard, most, nowMs, nowMs + asked.visibilityMs);
  return { nowMs, nextMs: claims.length > 0 && claims.length === most ? nowMs : shard.next(), fates, claims, died };
}

/**
 * Whether the store has room for the failure reasons. Without room it accepts the results and stores "failed" for each.
 */
function keepWithErrors(keys: Keyspace, key: string, shard: Shard, results: readonly Result[]): boolean {
  const whyBytes = results.reduce((sum, result) => sum + ("why" in result ? errorBytes(result.why) : 0), 0);
  try {
    keep(keys, key, shard, whyBytes);
    return true;
  } catch (error) {
    if (whyBytes === 0 || !isStoreFull(error)) throw error;
    keep(keys, key, shard);
    return false;
  }
}

function withoutWhy(result: Result): Result {
  return "why" in result ? { ...result, why: FAILED } : result;
}

function retriedAtMs(result: Result, nowMs: number): number {
  if (result.verb === "retry") return nowMs + result.delayMs;
  return result.verb === "back" ? nowMs : Number.POSITIVE_INFINITY;
}

function isClaimedBy(shard: Shard, { member, deliveries, verb }: Result): boolean {
  const score = shard.times.scoreOf(member);
  if (score === undefined) return false;
  const there = readScore(score);
  const isHeld = there.band === CLAIMED || (there.band === DEAD && verb === "done");
  return isHeld && there.deliveries === deliveries;
}

/**
 * Whether an earlier call delivered this refused result. A message that is gone was done by it, unless another delivery
 * is known to have done it.
 */
function isAsSaid(shard: Shard, { member, deliveries, verb }: Result): boolean {
  const score = shard.times.scoreOf(member);
  if (verb === "done" && score === undefined) {
    const ended = shard.times.scoreOf(`~${idOf(member)}`);
    return ended === undefined || readScore(ended).deliveries === deliveries;
  }
  if ((verb !== "dead" && verb !== "corrupt") || score === undefined) return false;
  const at = readScore(score);
  return at.band === DEAD && at.deliveries === deliveries;
}

function keepResult(shard: Shard, result: Result, dedupeMs: number, nowMs: number): void {
  const { member, deliveries } = result;
  const id = idOf(member);
  if (result.verb === "done") {
    shard.times.delete(member);
    shard.delete(id);
    const endsMs = addedAtMs(seqOf(member)) + dedupeMs;
    if (endsMs > nowMs) shard.times.set(`~${id}`, scoreOf(DONE, endsMs, deliveries));
    return;
  }
  if (result.verb === "back") {
    shard.times.set(member, scoreOf(result.priority, nowMs, deliveries - 1));
    return;
  }
  if (result.verb === "corrupt") {
    bury(shard, result, nowMs);
    return;
  }
  if (result.verb === "dead") shard.times.set(member, scoreOf(DEAD, nowMs, deliveries));
  else shard.times.set(member, scoreOf(result.priority, nowMs + result.delayMs, deliveries));
  shard.setError(id, result.why);
}

/**
 * Removes expired ids, or the oldest ids if too many are remembered. At most twice as many as may have been added
 * since.
 */
function forget({ times }: Shard, nowMs: number, came: number): void {
  const excess = times.count(DONE, 0, BAND_SIZE) - MOST_REMEMBERED;
  const most = Math.min(Math.max(excess, 2 * FORGET_EVERY_MS * came), 1000);
  for (const [member] of times.first(DONE, excess > 0 ? BAND_SIZE : nowMs - 1, most)) times.delete(member);
}

/** The twin of lua/queue/bury.lua. */
function bury(shard: Shard, { member, deliveries, id, why }: Result & { verb: "corrupt" }, nowMs: number): void {
  const stored = shard.messages.get(idOf(member))!;
  shard.times.delete(member);
  shard.delete(idOf(member));
  shard.add(id, { seq: stored.seq, envelope: rawEnvelope(storedValueOf(stored)) });
  shard.setError(id, why);
  shard.times.set(memberOf(stored.seq, id), scoreOf(DEAD, nowMs, deliveries));
}
