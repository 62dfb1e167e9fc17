import { CLAIMED, RESULT, SEQ_DIGITS, VERB } from "../../generated/layouts/queue.ts";
import { settleAndClaimScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { packStrings, readStrings } from "../../store/message-pack.ts";
import { envelopeOf, keysOfShard, readScore } from "../format/layout.ts";
import { Reader } from "../format/reader.ts";
import { settleAndClaimInMemory } from "./settle-and-claim-in-memory.ts";
import type {
  Claim,
  ExhaustedMessage,
  SettleAndClaimRequest,
  SettleAndClaimResult,
  Settlement,
  SettleStatus,
} from "./settlement.ts";

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
