import { script } from "../generated/queue/redrive.ts";
import type { Operation } from "../store/contract.ts";
import { packStrings } from "../store/message-pack.ts";
import { BAND_SIZE, DEAD, idOf, keysOfShard, memberOf, readScore, scoreOf } from "./layout.ts";
import { keep, shardAt, tell } from "./shard.ts";

/** Has dead messages wait again: so many that died first, and these; how many. Law in lua/queue/redrive.lua. */
export const redrive: Operation<{ layout: string; most: number; ids: readonly string[] }, number> = {
  name: "queue/redrive",
  script,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 3,
  repeatable: false,
  encode: ({ layout, most, ids }) => [layout, most, packStrings(ids)],
  decode: (reply) => new DataView(reply.buffer, reply.byteOffset, reply.length).getFloat64(0, true),
  local(keys, key, { layout, most, ids }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const found = new Set(most > 0 ? shard.times.first(DEAD, BAND_SIZE, most).map(([member]) => member) : []);
    for (const id of ids) {
      const stored = shard.messages.get(id);
      const member = stored && memberOf(stored.seq, id);
      if (member && readScore(shard.times.scoreOf(member)!).band === DEAD) found.add(member);
    }
    if (found.size === 0) return 0;
    keep(keys, key, shard);
    for (const member of found) {
      const id = idOf(member);
      const stored = shard.messages.get(id)!;
      shard.seq = Math.max(shard.seq + 1, nowMs * 1000);
      stored.seq = shard.seq;
      shard.times.delete(member);
      shard.times.set(memberOf(shard.seq, id), scoreOf(stored.envelope[1]!, nowMs, 0));
      shard.errors.delete(id);
    }
    tell(keys, key, nowMs);
    return found.size;
  },
};
