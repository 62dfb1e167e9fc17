import { CLAIMED, DEAD, idOf, MOST_BYTES, readScore, SEQ_DIGITS, scoreOf } from "../format/layout.ts";
import { LAPSED, type Shard } from "../format/shard.ts";
import type { Claim, Died } from "./exchange.ts";

type Found = [member: string, score: number][];

const AT_A_TIME = 32;
const MOST_DELIVERIES = 127;

interface Claiming {
  shard: Shard;
  nowMs: number;
  untilMs: number;
  /** Bytes that may still be claimed in this step. */
  left: number;
  claims: Claim[];
  died: Died[];
}

/** Claims up to the given number of due messages. The twin of lua/queue/turn.lua. */
export function claimAll(
  shard: Shard,
  most: number,
  nowMs: number,
  untilMs: number,
): { claims: Claim[]; died: Died[] } {
  const claiming: Claiming = { shard, nowMs, untilMs, left: MOST_BYTES, claims: [], died: [] };
  const { claims, died } = claiming;
  if (most === 0) return { claims, died };
  const lapsed = shard.times.first(CLAIMED, nowMs, most);
  const half = Math.ceil(most / 2);
  claim(claiming, lapsed.slice(0, half), true);
  for (const level of shard.levels)
    if (claims.length < most && claiming.left > 0)
      claim(claiming, shard.times.first(level, nowMs, most - claims.length), false);
  claim(claiming, lapsed.slice(half, half + most - claims.length), true);
  return { claims, died };
}

function claim(claiming: Claiming, found: Found, hasLapsed: boolean): void {
  const { shard, nowMs, untilMs, claims, died } = claiming;
  for (const [i, [member, score]] of found.entries()) {
    if (i % AT_A_TIME === 0 && claiming.left <= 0) return;
    const { deliveries, ms } = readScore(score);
    const id = idOf(member);
    const { envelope } = shard.messages.get(id)!;
    if (deliveries >= mostDeliveries(envelope[0])) {
      shard.times.set(member, scoreOf(DEAD, nowMs, deliveries));
      const why = shard.errorOf(id) || LAPSED;
      shard.setError(id, why);
      died.push({ member, deliveries, why });
      continue;
    }
    const sizeBytes = SEQ_DIGITS + envelope.length;
    if (claiming.left < MOST_BYTES && sizeBytes > claiming.left) {
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
function mostDeliveries(told: number | undefined): number {
  return told === undefined || told === 0 || told > MOST_DELIVERIES ? MOST_DELIVERIES : told;
}
