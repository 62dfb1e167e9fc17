import { script } from "../../generated/queue/redrive.ts";
import type { Operation } from "../../store/contract.ts";
import { packStrings } from "../../store/message-pack.ts";
import { BAND_SIZE, DEAD, idOf, keysOfShard, memberOf, RAW, readScore, scoreOf } from "../format/layout.ts";
import { Reader } from "../format/reader.ts";
import { keep, shardAt, tell } from "../format/shard.ts";

interface Redrive {
  layout: string;
  /** How many of the earliest dead messages to skip. */
  passedOver: number;
  most: number;
  ids: readonly string[];
}

/**
 * Makes dead messages due at once. Returns how many, and how many of the earliest dead are corrupt and stay dead. Law
 * in lua/queue/redrive.lua.
 */
export const redrive: Operation<Redrive, { moved: number; stay: number }> = {
  name: "queue/redrive",
  script,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 4,
  repeatable: false,
  encode: ({ layout, passedOver, most, ids }) => [layout, passedOver, most, packStrings(ids)],
  decode(reply) {
    const reader = new Reader(reply);
    return { moved: reader.f64(), stay: reader.f64() };
  },
  local(keys, key, { layout, passedOver, most, ids }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const first = most > 0 ? shard.times.first(DEAD, BAND_SIZE, passedOver + most).slice(passedOver) : [];
    const isMessage = (member: string) => isRedriven(shard.messages.get(idOf(member))!.envelope);
    const found = new Set(first.map(([member]) => member).filter(isMessage));
    const stay = first.length - found.size;
    for (const id of ids) {
      const stored = shard.messages.get(id);
      const member = stored && memberOf(stored.seq, id);
      if (member && readScore(shard.times.scoreOf(member)!).band === DEAD && isMessage(member)) found.add(member);
    }
    if (found.size === 0) return { moved: 0, stay };
    keep(keys, key, shard);
    for (const member of found) {
      const id = idOf(member);
      const stored = shard.messages.get(id)!;
      shard.seq = Math.max(shard.seq + 1, nowMs * 1000);
      stored.seq = shard.seq;
      shard.times.delete(member);
      shard.times.set(memberOf(shard.seq, id), scoreOf(stored.envelope[1]!, nowMs, 0));
      shard.setError(id, "");
    }
    tell(keys, key, nowMs);
    return { moved: found.size, stay };
  },
};

function isRedriven([, priority, kind]: Uint8Array): boolean {
  return priority !== undefined && priority <= 9 && kind !== RAW;
}
