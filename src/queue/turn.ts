import { script } from "../generated/queue/turn.ts";
import type { Operation } from "../store/contract.ts";
import { packStrings, readStrings } from "../store/message-pack.ts";
import type { Claim, Fate, Result, Turn, Turned } from "./exchange.ts";
import { CLAIMED, envelopeOf, keysOfShard, readScore } from "./layout.ts";
import { Reader } from "./reader.ts";
import { takeTurn } from "./take-turn.ts";

const PARTS_OF_CLAIM = 4;
const FATES: readonly Fate[] = ["stale", "kept", "before"];
const decoder = new TextDecoder();

/** Brings results and claims messages; law in lua/queue/turn.lua. */
export const turn: Operation<Turn, Turned> = {
  name: "queue/turn",
  script,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 7,
  // What was claimed by a call whose answer is lost lapses.
  repeatable: false,
  mustLast: true,
  // Results of some 400 messages, of several shards; with what is claimed for them nobody else is served for some 10 ms.
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
    const claimed = readStrings(reply, reader.at);
    const claims: Claim[] = [];
    for (let i = 0; i < claimed.length; i += PARTS_OF_CLAIM) {
      const { band, ms, deliveries } = readScore(numberOfDigits(claimed[i + 1]!));
      claims.push({
        member: decoder.decode(claimed[i]),
        deliveries: deliveries + 1,
        hasLapsed: band === CLAIMED,
        sinceMs: ms,
        envelope: envelopeOf(claimed[i + 2]!),
        why: claimed[i + 3]!.length === 0 ? "" : decoder.decode(claimed[i + 3]),
      });
    }
    return { nowMs, nextMs, fates, claims };
  },
  local: takeTurn,
};

function parts(result: Result): string[] {
  const { member, deliveries } = result;
  if (result.verb === "back") return [member, `${deliveries}`, "b", "0", `${result.priority}`];
  if (result.verb === "dead") return [member, `${deliveries}`, "x", "0", result.why];
  if (result.verb === "retry")
    return [member, `${deliveries}`, "r", `${result.delayMs}`, `${result.priority}${result.why}`];
  throw new Error("what is done comes first");
}

function numberOfDigits(digits: Uint8Array): number {
  let value = 0;
  for (const digit of digits) value = value * 10 + digit - 48;
  return value;
}
