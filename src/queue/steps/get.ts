import { getScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { keysOfShard, memberOf, storedValueOf } from "../format/layout.ts";
import { Reader } from "../format/reader.ts";
import { shardAt } from "../format/shard.ts";

/** A stored message. The score encodes its state, time and deliveries. */
export interface StoredMessage {
  id: string;
  score: number;
  /** Its value in the hash `messages`: seq and envelope. */
  value: Uint8Array;
  /** Why its last delivery failed; empty if none did. */
  why: string;
}

/** Reads a message by its id. Law in lua/queue/get.lua. */
export const get: Operation<{ layout: string; id: string }, StoredMessage | undefined> = {
  name: "queue/get",
  script: getScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 2,
  repeatable: true,
  encode: ({ layout, id }) => [layout, id],
  decode(reply) {
    if (reply.length === 0) return undefined;
    const reader = new Reader(reply);
    const score = reader.f64();
    return { id: "", score, value: reader.bytes(), why: reader.text() };
  },
  local(keys, key, { layout, id }) {
    const shard = shardAt(keys, key, layout);
    const stored = shard.messages.get(id);
    if (!stored) return undefined;
    const score = shard.times.scoreOf(memberOf(stored.seq, id))!;
    return { id: "", score, value: storedValueOf(stored), why: shard.errorOf(id) };
  },
};
