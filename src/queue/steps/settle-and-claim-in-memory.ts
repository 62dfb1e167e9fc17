import {
  BAND_SIZE,
  CLAIMED,
  DEAD,
  DONE,
  FORGET_AT,
  FORGET_EVERY_MS,
  MAX_DEDUPE_IDS,
  MAX_FORGOTTEN,
} from "../../generated/layouts/queue.ts";
import type { Keyspace } from "../../store/contract.ts";
import { isStoreFull } from "../../store/memory/full.ts";
import { rawEnvelope } from "../format/envelope.ts";
import { addedAtMs, idOf, memberOf, readScore, scoreOf, seqOf, storedValueOf } from "../format/layout.ts";
import { errorBytes, expireIfEmpty, FAILED, publishDue, type Shard, saveShard, shardAt } from "../format/shard.ts";
import { claimAll } from "./claim-all.ts";
import type { SettleAndClaimRequest, SettleAndClaimResult, Settlement, SettleStatus } from "./settlement.ts";

/** The twin of lua/queue/settle-and-claim.lua. */
export function settleAndClaimInMemory(
  keys: Keyspace,
  key: string,
  asked: SettleAndClaimRequest,
  nowMs: number,
): SettleAndClaimResult {
  const { layout, settlements } = asked;
  const shard = shardAt(keys, key, layout);
  const isThere = shard.layout !== undefined;
  const hasRoom = isThere && saveWithErrors(keys, key, shard, settlements);
  const head = shard.head();
  const seen = new Set<string>();
  // Compared with the state before the first result.
  const wereRepeated = settlements.map((settlement) => isRepeated(shard, settlement));
  const statuses = settlements.map((settlement, i): SettleStatus => {
    const { member } = settlement;
    if (seen.has(member)) return "stale";
    if (!isClaimedBy(shard, settlement)) return wereRepeated[i] ? "repeated" : "stale";
    applySettlement(shard, hasRoom ? settlement : withoutReason(settlement), asked.dedupeMs, nowMs);
    seen.add(member);
    return "settled";
  });
  const first = Math.min(
    ...settlements.map((settlement, i) =>
      statuses[i] === "settled" ? retriedAtMs(settlement, nowMs) : Number.POSITIVE_INFINITY,
    ),
  );
  if (first < head) publishDue(keys, key, readScore(scoreOf(0, first, 0)).ms);
  const done = settlements.filter(({ verb }) => verb === "done").length;
  if (done >= FORGET_AT || (done > 0 && nowMs % FORGET_EVERY_MS === 0)) forget(shard, nowMs, done);

  const limit = shard.isPaused ? 0 : asked.limit;
  const { claims, exhausted } = claimAll(shard, limit, nowMs, nowMs + asked.visibilityMs);
  const nextMs = claims.length > 0 && claims.length === limit ? nowMs : shard.next();
  if (nextMs === Number.POSITIVE_INFINITY && statuses.length > 0) expireIfEmpty(keys, key, shard, nowMs);
  return { nowMs, nextMs, statuses, claims, exhausted };
}

/**
 * Whether the store has room for the failure reasons. Without room it accepts the results and stores "failed" for each.
 */
function saveWithErrors(keys: Keyspace, key: string, shard: Shard, settlements: readonly Settlement[]): boolean {
  const whyBytes = settlements.reduce(
    (sum, settlement) => sum + ("why" in settlement ? errorBytes(settlement.why) : 0),
    0,
  );
  try {
    saveShard(keys, key, shard, whyBytes);
    return true;
  } catch (error) {
    if (whyBytes === 0 || !isStoreFull(error)) throw error;
    saveShard(keys, key, shard);
    return false;
  }
}

function withoutReason(settlement: Settlement): Settlement {
  return "why" in settlement ? { ...settlement, why: FAILED } : settlement;
}

function retriedAtMs(settlement: Settlement, nowMs: number): number {
  if (settlement.verb === "retry" || settlement.verb === "again") return nowMs + settlement.delayMs;
  return settlement.verb === "release" ? nowMs : Number.POSITIVE_INFINITY;
}

function isClaimedBy(shard: Shard, { member, deliveries, verb }: Settlement): boolean {
  const score = shard.times.scoreOf(member);
  if (score === undefined) return false;
  const there = readScore(score);
  const isHeld = there.band === CLAIMED || (there.band === DEAD && (verb === "done" || verb === "again"));
  return isHeld && there.deliveries === deliveries;
}

/**
 * Whether an earlier call delivered this refused result. A message that is gone was done by it, unless another delivery
 * is known to have done it.
 */
function isRepeated(shard: Shard, { member, deliveries, verb }: Settlement): boolean {
  const score = shard.times.scoreOf(member);
  if (verb === "done" && score === undefined) {
    const ended = shard.times.scoreOf(`~${idOf(member)}`);
    return ended === undefined || readScore(ended).deliveries === deliveries;
  }
  if ((verb !== "dead" && verb !== "corrupt") || score === undefined) return false;
  const at = readScore(score);
  return at.band === DEAD && at.deliveries === deliveries;
}

function applySettlement(shard: Shard, settlement: Settlement, dedupeMs: number, nowMs: number): void {
  const { member, deliveries } = settlement;
  const id = idOf(member);
  if (settlement.verb === "done") {
    shard.times.delete(member);
    shard.delete(id);
    const endsMs = addedAtMs(seqOf(member)) + dedupeMs;
    if (endsMs > nowMs) shard.times.set(`~${id}`, scoreOf(DONE, endsMs, deliveries));
    return;
  }
  if (settlement.verb === "release") {
    shard.times.set(member, scoreOf(settlement.priority, nowMs, deliveries - 1));
    return;
  }
  if (settlement.verb === "again") {
    const stored = shard.messages.get(id)!;
    shard.seq = Math.max(shard.seq + 1, nowMs * 1000);
    stored.seq = shard.seq;
    shard.times.delete(member);
    shard.times.set(memberOf(shard.seq, id), scoreOf(settlement.priority, nowMs + settlement.delayMs, 0));
    shard.setError(id, "");
    return;
  }
  if (settlement.verb === "corrupt") {
    bury(shard, settlement, nowMs);
    return;
  }
  if (settlement.verb === "dead") shard.times.set(member, scoreOf(DEAD, nowMs, deliveries));
  else shard.times.set(member, scoreOf(settlement.priority, nowMs + settlement.delayMs, deliveries));
  shard.setError(id, settlement.why);
}

/**
 * Removes expired ids, or the oldest ids if too many are remembered. At most twice as many as may have been added
 * since.
 */
function forget({ times }: Shard, nowMs: number, came: number): void {
  const excess = times.count(DONE, 0, BAND_SIZE) - MAX_DEDUPE_IDS;
  const limit = Math.min(Math.max(excess, 2 * FORGET_EVERY_MS * came), MAX_FORGOTTEN);
  for (const [member] of times.first(DONE, excess > 0 ? BAND_SIZE : nowMs - 1, limit)) times.delete(member);
}

/** The twin of lua/queue/bury-corrupt.lua. */
function bury(shard: Shard, { member, deliveries, id, why }: Settlement & { verb: "corrupt" }, nowMs: number): void {
  const stored = shard.messages.get(idOf(member))!;
  shard.times.delete(member);
  shard.delete(idOf(member));
  shard.add(id, { seq: stored.seq, envelope: rawEnvelope(storedValueOf(stored)) });
  shard.setError(id, why);
  shard.times.set(memberOf(stored.seq, id), scoreOf(DEAD, nowMs, deliveries));
}
