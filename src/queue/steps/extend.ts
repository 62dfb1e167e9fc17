import { CLAIMED, EXTENDED } from "../../generated/layouts/queue.ts";
import { extendScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { packStrings } from "../../store/message-pack.ts";
import { keysOfShard, readScore, scoreOf } from "../format/layout.ts";
import { saveShard, shardAt } from "../format/shard.ts";

interface Extension {
  layout: string;
  held: readonly { member: string; deliveries: number }[];
  visibilityMs: number;
}

/** Extends claims. Returns for each message whether this delivery held it. Law in lua/queue/extend.lua. */
export const extend: Operation<Extension, boolean[]> = {
  name: "queue/extend",
  script: extendScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 3,
  repeatable: true,
  encode: ({ layout, held, visibilityMs }) => [
    layout,
    packStrings(held.flatMap(({ member, deliveries }) => [member, `${deliveries}`])),
    visibilityMs,
  ],
  decode: (reply) => Array.from(reply, (byte) => byte === EXTENDED.extended),
  local(keys, key, { layout, held, visibilityMs }, nowMs) {
    const shard = shardAt(keys, key, layout);
    if (shard.layout !== undefined) saveShard(keys, key, shard);
    return held.map(({ member, deliveries }) => {
      const there = readScore(shard.times.scoreOf(member) ?? 0);
      if (there.band !== CLAIMED || there.deliveries !== deliveries) return false;
      shard.times.set(member, scoreOf(CLAIMED, Math.max(there.ms, nowMs + visibilityMs), deliveries));
      return true;
    });
  },
};
