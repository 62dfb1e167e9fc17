import type { Keyspace } from "../store/contract.ts";
import type { Claim, Fate, Result, Turn, Turned } from "./exchange.ts";
import {
  addedAtMs,
  BAND_SIZE,
  CLAIMED,
  DEAD,
  DONE,
  idOf,
  MOST_BYTES,
  MOST_REMEMBERED,
  readScore,
  scoreOf,
  seqOf,
} from "./layout.ts";
import { keep, type Shard, shardAt, tell } from "./shard.ts";

const HEAD_BYTES = 14;
const AT_A_TIME = 32;
const FORGET_EVERY_MS = 17;
const FORGET_AT = 16;

/** The twin of lua/queue/turn.lua. */
export function takeTurn(keys: Keyspace, key: string, asked: Turn, nowMs: number): Turned {
  const { layout, results, visibilityMs } = asked;
  const shard = shardAt(keys, key, layout);
  const isThere = shard.layout !== undefined;
  if (isThere) keep(keys, key, shard);
  const head = shard.head();
  const seen = new Set<string>();
  // Of what was there before the first result.
  const wereBefore = results.map((result) => isAsSaid(shard, result));
  const fates = results.map((result, i): Fate => {
    const { member } = result;
    if (seen.has(member)) return "stale";
    if (!isClaimedBy(shard, result)) return wereBefore[i] ? "before" : "stale";
    keepResult(shard, result, asked.dedupeMs, nowMs);
    seen.add(member);
    return "kept";
  });
  const first = Math.min(
    ...results.map((result, i) => (fates[i] === "kept" ? retriedAtMs(result, nowMs) : Number.POSITIVE_INFINITY)),
  );
  if (first < head) tell(keys, key, readScore(scoreOf(0, first, 0)).ms);
  const done = results.filter(({ verb }) => verb === "done").length;
  if (done >= FORGET_AT || (done > 0 && nowMs % FORGET_EVERY_MS === 0)) forget(shard, nowMs, done);

  const claims: Claim[] = [];
  const most = shard.isPaused ? 0 : asked.most;
  let left = MOST_BYTES;
  const take = (found: [member: string, score: number][], hasLapsed: boolean) => {
    left = claimAll(shard, found, { hasLapsed, nowMs, untilMs: nowMs + visibilityMs, left, claims });
  };
  if (most > 0) take(shard.times.first(CLAIMED, nowMs, Math.ceil(most / 2)), true);
  for (const level of shard.levels)
    if (claims.length < most && left > 0) take(shard.times.first(level, nowMs, most - claims.length), false);
  return { nowMs, nextMs: claims.length > 0 && claims.length === most ? nowMs : shard.next(), fates, claims };
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

/** Whether a result that is not kept was brought before: what is gone was done, unless another delivery is known to have done it. */
function isAsSaid(shard: Shard, { member, deliveries, verb }: Result): boolean {
  const score = shard.times.scoreOf(member);
  if (verb === "done" && score === undefined) {
    const ended = shard.times.scoreOf(`~${idOf(member)}`);
    return ended === undefined || readScore(ended).deliveries === deliveries;
  }
  if (verb !== "dead" || score === undefined) return false;
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
  if (result.verb === "dead") shard.times.set(member, scoreOf(DEAD, nowMs, deliveries));
  else shard.times.set(member, scoreOf(result.priority, nowMs + result.delayMs, deliveries));
  shard.errors.set(id, result.why);
}

/** Twice as many as may have come since, at most. */
function forget({ times }: Shard, nowMs: number, came: number): void {
  const excess = times.count(DONE, 0, BAND_SIZE) - MOST_REMEMBERED;
  const most = Math.min(Math.max(excess, 2 * FORGET_EVERY_MS * came), 1000);
  for (const [member] of times.first(DONE, excess > 0 ? BAND_SIZE : nowMs - 1, most)) times.delete(member);
}

interface Claiming {
  hasLapsed: boolean;
  nowMs: number;
  untilMs: number;
  /** Bytes that may still be claimed. */
  left: number;
  claims: Claim[];
}

/** Bytes that are left. */
function claimAll(shard: Shard, found: [string, number][], claiming: Claiming): number {
  const { hasLapsed, nowMs, untilMs, claims } = claiming;
  let { left } = claiming;
  for (const [i, [member, score]] of found.entries()) {
    if (i % AT_A_TIME === 0 && left <= 0) return left;
    const { deliveries, ms } = readScore(score);
    const id = idOf(member);
    const stored = shard.messages.get(id)!;
    const { envelope } = stored;
    if (deliveries >= envelope[0]!) {
      shard.times.set(member, scoreOf(DEAD, nowMs, deliveries));
      if (!shard.errors.get(id)) shard.errors.set(id, "lapsed");
      continue;
    }
    const sizeBytes = HEAD_BYTES + envelope.length;
    if (left < MOST_BYTES && sizeBytes > left) return 0;
    left -= sizeBytes;
    shard.times.set(member, scoreOf(CLAIMED, untilMs, deliveries + 1));
    claims.push({
      member,
      deliveries: deliveries + 1,
      hasLapsed,
      sinceMs: ms,
      envelope,
      why: shard.errors.get(id) ?? "",
    });
  }
  return left;
}
