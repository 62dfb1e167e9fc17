import {
  BAND_SIZE,
  DEAD,
  ENVELOPE_PAYLOAD_AT,
  ENVELOPE_PRIORITY_AT,
  MAX_PRIORITY,
  PAYLOAD,
  REDRIVEN_CORRUPT_COUNT_AT,
  REDRIVEN_MOVED_AT,
} from "../../generated/layouts/queue.ts";
import { deadScript, redriveScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { packStrings } from "../../store/message-pack.ts";
import { idOf, keysOfShard, memberOf, Reader, readScore, scoreOf } from "../format/layout.ts";
import { publishDue, saveShard, shardAt } from "../format/shard.ts";
import { readStoredMessages, type StoredMessage, storedMessages } from "./messages.ts";

/** Lists dead messages, the earliest death first. Law in lua/queue/dead.lua. */
export const dead: Operation<{ layout: string; offset: number; limit: number }, StoredMessage[]> = {
  name: "queue/dead",
  script: deadScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 3,
  repeatable: true,
  encode: ({ layout, offset, limit }) => [layout, offset, limit],
  decode: (reply) => readStoredMessages(new Reader(reply)),
  local(keys, key, { layout, offset, limit }) {
    const shard = shardAt(keys, key, layout);
    return storedMessages(shard, shard.times.first(DEAD, BAND_SIZE, offset + limit).slice(offset));
  },
};

interface Redrive {
  layout: string;
  /** How many of the earliest dead messages to skip. */
  offset: number;
  limit: number;
  ids: readonly string[];
}

/**
 * Makes dead messages due at once. Returns how many, and how many of the earliest dead stay dead because they are corrupt. Law
 * in lua/queue/redrive.lua.
 */
export const redrive: Operation<Redrive, { moved: number; corruptCount: number }> = {
  name: "queue/redrive",
  script: redriveScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 4,
  repeatable: false,
  encode: ({ layout, offset, limit, ids }) => [layout, offset, limit, packStrings(ids)],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
    return {
      moved: view.getFloat64(REDRIVEN_MOVED_AT, true),
      corruptCount: view.getFloat64(REDRIVEN_CORRUPT_COUNT_AT, true),
    };
  },
  local(keys, key, { layout, offset, limit, ids }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const first = limit > 0 ? shard.times.first(DEAD, BAND_SIZE, offset + limit).slice(offset) : [];
    const isMessage = (member: string) => isRedriven(shard.messages.get(idOf(member))!.envelope);
    const found = new Set(first.map(([member]) => member).filter(isMessage));
    const corruptCount = first.length - found.size;
    for (const id of ids) {
      const stored = shard.messages.get(id);
      const member = stored && memberOf(stored.seq, id);
      if (member && readScore(shard.times.scoreOf(member)!).band === DEAD && isMessage(member)) found.add(member);
    }
    if (found.size === 0) return { moved: 0, corruptCount };
    saveShard(keys, key, shard);
    for (const member of found) {
      const id = idOf(member);
      const stored = shard.messages.get(id)!;
      shard.seq = Math.max(shard.seq + 1, nowMs * 1000);
      stored.seq = shard.seq;
      shard.times.delete(member);
      shard.times.set(memberOf(shard.seq, id), scoreOf(stored.envelope[ENVELOPE_PRIORITY_AT]!, nowMs, 0));
      shard.setError(id, "");
    }
    publishDue(keys, key, nowMs);
    return { moved: found.size, corruptCount };
  },
};

function isRedriven(envelope: Uint8Array): boolean {
  const priority = envelope[ENVELOPE_PRIORITY_AT];
  return priority !== undefined && priority <= MAX_PRIORITY && envelope[ENVELOPE_PAYLOAD_AT] !== PAYLOAD.raw;
}
