import { script } from "../../generated/queue/turn.ts";
import type { Operation } from "../../store/contract.ts";
import { packStrings, readStrings } from "../../store/message-pack.ts";
import { CLAIMED, envelopeOf, keysOfShard, readScore, SEQ_DIGITS } from "../format/layout.ts";
import { Reader } from "../format/reader.ts";
import type { Claim, Died, Fate, Result, Turn, Turned } from "./exchange.ts";
import { takeTurn } from "./take-turn.ts";

const PARTS_OF_CLAIM = 4;
const FATES: readonly Fate[] = ["stale", "kept", "before"];
const decoder = new TextDecoder();

/** Delivers results and claims messages. Law in lua/queue/turn.lua. */
export const turn: Operation<Turn, Turned> = {
  name: "queue/turn",
  script,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 7,
  // Claims of a call whose answer is lost lapse by themselves.
  repeatable: false,
  mustLast: true,
  // Results of about 400 messages of several shards. With the messages claimed for them, they occupy the server for
  // about 10 ms.
  mostBytes: 16_384,
  encode({ layout, results, dedupeMs, most, visibilityMs }) {
    const firstOther = results.findIndex(({ verb }) => verb !== "done");
    const done = firstOther < 0 ? results : results.slice(0, firstOther);
    const others = results.slice(done.length);
    return [
      layout,
      packStrings(done.map(({ member }) => member)),
      Uint8Array.from(done, ({ deliveries }) => deliveries),
      dedupeMs,
      packStrings(others.flatMap(parts)),
      most,
      visibilityMs,
    ];
  },
  decode(reply) {
    const reader = new Reader(reply);
    const nowMs = reader.f64();
    const nextMs = reader.f64();
    const fates = Array.from({ length: reader.u16() }, () => FATES[reader.u8()]!);
    const diedCount = reader.u16();
    const parts = readStrings(reply, reader.at);
    const died: Died[] = [];
    const claims: Claim[] = [];
    for (let i = 0; i < parts.length; i += PARTS_OF_CLAIM) {
      const score = parts[i + 1]!;
      const { band, ms, deliveries } = readScore(numberOfDigits(score));
      const why = parts[i + 3]!.length === 0 ? "" : decoder.decode(parts[i + 3]);
      const member = decoder.decode(parts[i]);
      if (died.length < diedCount) {
        died.push({ member, deliveries, why });
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
    return { nowMs, nextMs, fates, claims, died };
  },
  local: takeTurn,
};

function parts(result: Result): (string | Uint8Array)[] {
  const { member, deliveries } = result;
  if (result.verb === "corrupt") return [result.memberBytes ?? member, `${deliveries}`, "c", result.id, result.why];
  if (result.verb === "back") return [member, `${deliveries}`, "b", "0", `${result.priority}`];
  if (result.verb === "dead") return [member, `${deliveries}`, "x", "0", result.why];
  if (result.verb === "retry")
    return [member, `${deliveries}`, "r", `${result.delayMs}`, `${result.priority}${result.why}`];
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
