import {
  CLAIMED,
  CLAIMED_AT_A_TIME,
  DEAD,
  ENVELOPE_MAX_DELIVERIES_AT,
  LAPSED,
  MAX_BYTES,
  MAX_DELIVERIES,
  SEQ_DIGITS,
} from "../../generated/layouts/queue.ts";
import { idOf, readScore, scoreOf } from "../format/layout.ts";
import type { Shard } from "../format/shard.ts";
import type { Claim, ExhaustedMessage } from "./settlement.ts";

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
export function claimAll(
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
