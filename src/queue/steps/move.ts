import { CANCELLED_MS, CLAIMED, DEAD, DONE, MOVE } from "../../generated/layouts/queue.ts";
import { moveScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { type DueTime, dueMs, dueTimeText } from "../format/due-time.ts";
import { cancelledMember } from "../format/envelope.ts";
import { keysOfShard, memberOf, readScore, scoreOf } from "../format/layout.ts";
import { expireIfEmpty, publishDue, saveShard, shardAt } from "../format/shard.ts";

export type MoveResult = "unknown" | "moved" | "claimed" | "dead";
const RESULTS: Record<number, MoveResult> = {
  [MOVE.unknown]: "unknown",
  [MOVE.moved]: "moved",
  [MOVE.claimed]: "claimed",
  [MOVE.dead]: "dead",
};

/** Cancels a message (`when` undefined), or changes when it is due. Law in lua/queue/move.lua. */
export const move: Operation<{ layout: string; id: string; when: DueTime | undefined }, MoveResult> = {
  name: "queue/move",
  script: moveScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 3,
  repeatable: false,
  encode: ({ layout, id, when }) => [layout, id, when ? dueTimeText(when) : ""],
  decode: (reply) => RESULTS[reply[0]!]!,
  local(keys, key, { layout, id, when }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const stored = shard.messages.get(id);
    if (!stored) return "unknown";
    const member = memberOf(stored.seq, id);
    const { band, deliveries } = readScore(shard.times.scoreOf(member)!);
    if (band === CLAIMED) return "claimed";
    if (when && band === DEAD) return "dead";
    saveShard(keys, key, shard);
    if (!when) {
      shard.times.delete(member);
      shard.delete(id);
      shard.cancelledUntilMs = nowMs + CANCELLED_MS;
      shard.times.set(cancelledMember(stored.envelope, id), scoreOf(DONE, shard.cancelledUntilMs, 0));
      expireIfEmpty(keys, key, shard, nowMs);
      return "moved";
    }
    const due = dueMs(when, nowMs);
    const head = shard.head();
    shard.times.set(member, scoreOf(band, due, deliveries));
    if (due < head) publishDue(keys, key, due);
    return "moved";
  },
};
