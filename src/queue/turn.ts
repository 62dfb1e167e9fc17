import { script } from "../generated/queue/turn.ts";
import type { Operation } from "../store/contract.ts";
import { packStrings } from "../store/message-pack.ts";
import type { Result, Turn, Turned } from "./exchange.ts";
import { keysOfShard, splitValue } from "./layout.ts";
import { Reader } from "./reader.ts";
import { takeTurn } from "./take-turn.ts";

/** Brings results and claims messages; law in lua/queue/turn.lua. */
export const turn: Operation<Turn, Turned> = {
  name: "queue/turn",
  script,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 4,
  // What was claimed by a call whose answer is lost lapses.
  repeatable: false,
  mustLast: true,
  encode: ({ layout, results, most, visibilityMs }) => [
    layout,
    packStrings(results.flatMap(parts)),
    most,
    visibilityMs,
  ],
  decode(reply) {
    const reader = new Reader(reply);
    const nowMs = reader.f64();
    const nextMs = reader.f64();
    const isKept = Array.from({ length: reader.u16() }, () => reader.u8() === 1);
    const claims = Array.from({ length: reader.u16() }, () => {
      const deliveries = reader.u8();
      const hasLapsed = reader.u8() === 1;
      const sinceMs = reader.f64();
      const member = reader.text();
      return {
        member,
        deliveries,
        hasLapsed,
        sinceMs,
        envelope: splitValue(reader.bytes()).envelope,
        why: reader.text(),
      };
    });
    return { nowMs, nextMs, isKept, claims };
  },
  local: takeTurn,
};

function parts(result: Result): string[] {
  const { member, deliveries } = result;
  if (result.verb === "done") return [member, `${deliveries}`, "d", `${result.rememberMs}`, ""];
  if (result.verb === "back") return [member, `${deliveries}`, "b", "0", `${result.priority}`];
  if (result.verb === "dead") return [member, `${deliveries}`, "x", "0", result.why];
  return [member, `${deliveries}`, "r", `${result.delayMs}`, `${result.priority}${result.why}`];
}
