import { script } from "../../generated/queue/move.ts";
import type { Operation } from "../../store/contract.ts";
import { CLAIMED, DEAD, keysOfShard, memberOf, readScore, scoreOf } from "../format/layout.ts";
import { keep, shardAt, tell } from "../format/shard.ts";
import { dueMs, type When, whenText } from "../format/when.ts";

export type Moved = "unknown" | "moved" | "claimed" | "dead";
const FATES: readonly Moved[] = ["unknown", "moved", "claimed", "dead"];

/** Cancels a message (`when` undefined), or changes when it is due. Law in lua/queue/move.lua. */
export const move: Operation<{ layout: string; id: string; when: When | undefined }, Moved> = {
  name: "queue/move",
  script,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 3,
  repeatable: false,
  encode: ({ layout, id, when }) => [layout, id, when ? whenText(when) : ""],
  decode: (reply) => FATES[reply[0]!]!,
  local(keys, key, { layout, id, when }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const stored = shard.messages.get(id);
    if (!stored) return "unknown";
    const member = memberOf(stored.seq, id);
    const { band, deliveries } = readScore(shard.times.scoreOf(member)!);
    if (band === CLAIMED) return "claimed";
    if (when && band === DEAD) return "dead";
    keep(keys, key, shard);
    if (!when) {
      shard.times.delete(member);
      shard.delete(id);
      return "moved";
    }
    const due = dueMs(when, nowMs);
    const head = shard.head();
    shard.times.set(member, scoreOf(band, due, deliveries));
    if (due < head) tell(keys, key, due);
    return "moved";
  },
};
