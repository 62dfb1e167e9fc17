import { script } from "../generated/queue/turn.ts";
import type { Operation } from "../store/contract.ts";
import { packStrings } from "../store/message-pack.ts";
import { keysOfShard, splitValue } from "./layout.ts";
import { Reader } from "./reader.ts";
import { takeTurn } from "./take-turn.ts";

/** What became of a message that was claimed by just this delivery. */
export type Result = { member: string; deliveries: number } & (
  | { verb: "done"; rememberMs: number }
  | { verb: "retry"; delayMs: number; priority: number; why: string }
  | { verb: "dead"; why: string }
);

export interface Turn {
  layout: string;
  results: readonly Result[];
  /** How many messages to claim, and for how long. */
  most: number;
  visibilityMs: number;
}

/** A message that is claimed; member and deliveries are its receipt. */
export interface Claim {
  member: string;
  deliveries: number;
  /** It was claimed before, and its time was over. */
  hasLapsed: boolean;
  envelope: Uint8Array;
  /** Why it last failed; empty: it has not. */
  why: string;
}

export interface Turned {
  nowMs: number;
  /** When there is something to claim next; Infinity: not known of. */
  nextMs: number;
  /** For each result: whether it was kept; false: it is not claimed by this delivery. */
  isKept: boolean[];
  claims: Claim[];
}

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
      const member = reader.text();
      return { member, deliveries, hasLapsed, envelope: splitValue(reader.bytes()).envelope, why: reader.text() };
    });
    return { nowMs, nextMs, isKept, claims };
  },
  local: takeTurn,
};

function parts(result: Result): string[] {
  const { member, deliveries } = result;
  if (result.verb === "done") return [member, `${deliveries}`, "d", `${result.rememberMs}`, ""];
  if (result.verb === "dead") return [member, `${deliveries}`, "x", "0", result.why];
  return [member, `${deliveries}`, "r", `${result.delayMs}`, `${result.priority}${result.why}`];
}
