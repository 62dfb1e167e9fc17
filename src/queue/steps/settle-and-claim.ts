import {
  BAND_SIZE,
  CLAIMED,
  CLAIMED_AT_A_TIME,
  DEAD,
  DONE,
  ENVELOPE_MAX_DELIVERIES_AT,
  FORGET_AT,
  FORGET_EVERY_MS,
  LAPSED,
  MAX_BYTES,
  MAX_DEDUPE_IDS,
  MAX_DELIVERIES,
  MAX_FORGOTTEN,
  RESULT,
  SEQ_DIGITS,
  VERB,
} from "../../generated/layouts/queue.ts";
import { settleAndClaimScript } from "../../generated/scripts/queue.ts";
import type { Keyspace, Operation } from "../../store/contract.ts";
import { isStoreFull } from "../../store/memory/full.ts";
import { packStrings, readStrings } from "../../store/message-pack.ts";
import { rawEnvelope } from "../format/envelope.ts";
import {
  addedAtMs,
  envelopeOf,
  idOf,
  keysOfShard,
  memberOf,
  Reader,
  readScore,
  scoreOf,
  seqOf,
  storedValueOf,
} from "../format/layout.ts";
import { errorBytes, expireIfEmpty, FAILED, publishDue, type Shard, saveShard, shardAt } from "../format/shard.ts";

const PARTS_OF_CLAIM = 4;
const STATUSES: Record<number, SettleStatus> = {
  [RESULT.stale]: "stale",
  [RESULT.settled]: "settled",
  [RESULT.repeated]: "repeated",
};
const decoder = new TextDecoder();

/** Delivers results and claims messages. Law in lua/queue/settle-and-claim.lua. */
export const settleAndClaim: Operation<SettleAndClaimRequest, SettleAndClaimResult> = {
  name: "queue/settle-and-claim",
  script: settleAndClaimScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 7,
  // Claims of a call whose answer is lost lapse by themselves.
  repeatable: false,
  mustLast: true,
  // Results of about 400 messages of several shards. With the messages claimed for them, they occupy the server for
  // about 10 ms.
  maxBytes: 16_384,
  encode({ layout, settlements, dedupeMs, limit, visibilityMs }) {
    const firstOther = settlements.findIndex(({ verb }) => verb !== "done");
    const done = firstOther < 0 ? settlements : settlements.slice(0, firstOther);
    const others = settlements.slice(done.length);
    return [
      layout,
      packStrings(done.map(({ member }) => member)),
      Uint8Array.from(done, ({ deliveries }) => deliveries),
      dedupeMs,
      packStrings(others.flatMap(parts)),
      limit,
      visibilityMs,
    ];
  },
  decode(reply) {
    const reader = new Reader(reply);
    const nowMs = reader.f64();
    const nextMs = reader.f64();
    const statuses = Array.from({ length: reader.u16() }, () => STATUSES[reader.u8()]!);
    const diedCount = reader.u16();
    const parts = readStrings(reply, reader.at);
    const exhausted: ExhaustedMessage[] = [];
    const claims: Claim[] = [];
    for (let i = 0; i < parts.length; i += PARTS_OF_CLAIM) {
      const score = parts[i + 1]!;
      const { band, ms, deliveries } = readScore(numberOfDigits(score));
      const why = parts[i + 3]!.length === 0 ? "" : decoder.decode(parts[i + 3]);
      const member = decoder.decode(parts[i]);
      if (exhausted.length < diedCount) {
        exhausted.push({ member, deliveries, why });
        continue;
      }
      const value = parts[i + 2]!;
      claims.push({
        member,
        deliveries: deliveries + 1,
        hasLapsed: band === CLAIMED,
        sinceMs: score.length === 0 ? Number.NaN : ms,
        envelope: envelopeOf(value),
        isForeign: !beginsAlike(value, parts[i]!),
        memberBytes: member.includes("\ufffd") ? parts[i]!.slice() : undefined,
        why,
      });
    }
    return { nowMs, nextMs, statuses, claims, exhausted };
  },
  local: settleAndClaimInMemory,
};

function parts(settlement: Settlement): (string | Uint8Array)[] {
  const { member, deliveries } = settlement;
  if (settlement.verb === "corrupt")
    return [settlement.memberBytes ?? member, `${deliveries}`, VERB.corrupt, settlement.id, settlement.why];
  if (settlement.verb === "release") return [member, `${deliveries}`, VERB.release, "0", `${settlement.priority}`];
  if (settlement.verb === "again")
    return [member, `${deliveries}`, VERB.again, `${settlement.delayMs}`, `${settlement.priority}`];
  if (settlement.verb === "dead") return [member, `${deliveries}`, VERB.dead, "0", settlement.why];
  if (settlement.verb === "retry")
    return [member, `${deliveries}`, VERB.retry, `${settlement.delayMs}`, `${settlement.priority}${settlement.why}`];
  throw new Error("what is done comes first");
}

/** Whether a value and a member name the same seq. */
function beginsAlike(value: Uint8Array, member: Uint8Array): boolean {
  for (let i = 0; i < SEQ_DIGITS; i++) if (value[i] !== member[i] || value[i] === undefined) return false;
  return true;
}

function numberOfDigits(digits: Uint8Array): number {
  let value = 0;
  for (const digit of digits) value = value * 10 + digit - 48;
  return value;
}

/** Proves that this delivery holds the claim of a message. */
interface Receipt {
  member: string;
  deliveries: number;
}

/** The outcome of a delivery. */
export type Outcome =
  | { verb: "done" }
  | { verb: "retry"; delayMs: number; priority: number; why: string }
  | { verb: "release"; priority: number }
  /** The message comes again, as if it had just been added. `sizeBytes`: of its envelope, which the step copies. */
  | { verb: "again"; delayMs: number; priority: number; sizeBytes: number }
  | { verb: "dead"; why: string }
  /**
   * The bytes are not a message. `id`: another id if its own is unusable. `memberBytes`: set if its member is not text.
   */
  | { verb: "corrupt"; why: string; id: string; memberBytes: Uint8Array | undefined };

/** The outcome of a delivery, with the receipt of its claim. */
export type Settlement = Receipt & Outcome;

export interface SettleAndClaimRequest {
  layout: string;
  /** Results of done messages come first. */
  settlements: readonly Settlement[];
  /** How long the ids of done messages are known, counted from when they were added. */
  dedupeMs: number;
  /** Maximum messages to claim, and for how long. */
  limit: number;
  visibilityMs: number;
}

/** A claimed message, with its receipt. */
export interface Claim extends Receipt {
  /** An earlier claim of it lapsed. */
  hasLapsed: boolean;
  /** When it was due, or when its claim lapsed. NaN if it had a score that no step writes. */
  sinceMs: number;
  envelope: Uint8Array;
  /** The value stored under its id names another member. */
  isForeign: boolean;
  /** The member's bytes, if they may not be text. */
  memberBytes: Uint8Array | undefined;
  /** Why its last delivery failed; empty if none did. */
  why: string;
}

/** A message whose last delivery lapsed. */
export interface ExhaustedMessage extends Receipt {
  why: string;
}

/**
 * "settled": stored. "stale": this delivery does not hold the message. "repeated": it does not hold it either, but the
 * message is in the state of this result, which an earlier call delivered.
 */
export type SettleStatus = "settled" | "stale" | "repeated";

export interface SettleAndClaimResult {
  nowMs: number;
  /** When the next message can be claimed. Now if unknown; Infinity if there is none. */
  nextMs: number;
  /** One for each result. */
  statuses: SettleStatus[];
  claims: Claim[];
  /** Messages whose last delivery lapsed; they are dead now. */
  exhausted: ExhaustedMessage[];
}

/** The twin of lua/queue/settle-and-claim.lua. */
function settleAndClaimInMemory(
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

type Found = [member: string, score: number][];

interface Claiming {
  shard: Shard;
  nowMs: number;
  untilMs: number;
  /** Bytes that may still be claimed in this step. */
  left: number;
  claims: Claim[];
  exhausted: ExhaustedMessage[];
}

/** Claims up to the given number of due messages. The twin of lua/queue/settle-and-claim.lua. */
function claimAll(
  shard: Shard,
  limit: number,
  nowMs: number,
  untilMs: number,
): { claims: Claim[]; exhausted: ExhaustedMessage[] } {
  const claiming: Claiming = { shard, nowMs, untilMs, left: MAX_BYTES, claims: [], exhausted: [] };
  const { claims, exhausted } = claiming;
  if (limit === 0) return { claims, exhausted };
  const lapsed = shard.times.first(CLAIMED, nowMs, limit);
  const half = Math.ceil(limit / 2);
  claim(claiming, lapsed.slice(0, half), true);
  for (const level of shard.levels)
    if (claims.length < limit && claiming.left > 0)
      claim(claiming, shard.times.first(level, nowMs, limit - claims.length), false);
  claim(claiming, lapsed.slice(half, half + limit - claims.length), true);
  return { claims, exhausted };
}

function claim(claiming: Claiming, found: Found, hasLapsed: boolean): void {
  const { shard, nowMs, untilMs, claims, exhausted } = claiming;
  for (const [i, [member, score]] of found.entries()) {
    if (i % CLAIMED_AT_A_TIME === 0 && claiming.left <= 0) return;
    const { deliveries, ms } = readScore(score);
    const id = idOf(member);
    const { envelope } = shard.messages.get(id)!;
    if (deliveries >= maxDeliveries(envelope[ENVELOPE_MAX_DELIVERIES_AT])) {
      shard.times.set(member, scoreOf(DEAD, nowMs, deliveries));
      const why = shard.errorOf(id) || LAPSED;
      shard.setError(id, why);
      exhausted.push({ member, deliveries, why });
      continue;
    }
    const sizeBytes = SEQ_DIGITS + envelope.length;
    if (claiming.left < MAX_BYTES && sizeBytes > claiming.left) {
      claiming.left = 0;
      return;
    }
    claiming.left -= sizeBytes;
    shard.times.set(member, scoreOf(CLAIMED, untilMs, deliveries + 1));
    claims.push({
      member,
      deliveries: deliveries + 1,
      hasLapsed,
      sinceMs: ms,
      envelope,
      isForeign: false,
      memberBytes: undefined,
      why: shard.errorOf(id),
    });
  }
}

/** A value without a valid delivery count is still delivered; its reader reports the damage. */
function maxDeliveries(given: number | undefined): number {
  return given === undefined || given === 0 || given > MAX_DELIVERIES ? MAX_DELIVERIES : given;
}
