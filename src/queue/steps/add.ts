import { ADDED, DONE, ENVELOPE_PRIORITY_AT } from "../../generated/layouts/queue.ts";
import { addScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { packStrings } from "../../store/message-pack.ts";
import { cancelledMember } from "../format/envelope.ts";
import { type DueTime, dueMs, dueTimeText, keysOfShard, memberOf, readScore, scoreOf } from "../format/layout.ts";
import { keepShard, messageBytes, publishDue, shardAt } from "../format/shard.ts";

export interface NewMessage {
  id: string;
  when: DueTime;
  /** u8 maximum deliveries, u8 priority, then bytes that only the client reads. */
  envelope: Uint8Array;
}

/** Adds messages; returns for each whether it was added. Law in lua/queue/add.lua. */
export const add: Operation<{ layout: string; messages: readonly NewMessage[] }, boolean[]> = {
  name: "queue/add",
  script: addScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 2,
  repeatable: true,
  mustLast: true,
  // About 1000 messages, which occupy the server for about 1000 times 8 us.
  maxBytes: 65_536,
  encode: ({ layout, messages }) => [
    layout,
    packStrings(messages.flatMap(({ id, when, envelope }) => [id, dueTimeText(when), envelope])),
  ],
  decode: (reply) => Array.from(reply, (byte) => byte === ADDED.added),
  local(keys, key, { layout, messages }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const isRemembered = (id: string) => (shard.times.scoreOf(`~${id}`) ?? 0) >= scoreOf(DONE, nowMs, 0);
    const here = new Set<string>();
    const isCopy = (id: string, envelope: Uint8Array) =>
      shard.cancelledUntilMs >= nowMs && shard.times.scoreOf(cancelledMember(envelope, id)) !== undefined;
    const isNew = messages.map(({ id, envelope }) => {
      const isKnown = shard.messages.has(id) || isRemembered(id) || here.has(id) || isCopy(id, envelope);
      // A copy of a cancelled message is known, and its id is not.
      if (!isKnown) here.add(id);
      return !isKnown;
    });
    const added = messages.filter((_, i) => isNew[i]);
    if (added.length === 0) return isNew;
    keepShard(
      keys,
      key,
      shard,
      added.reduce((sum, { id, envelope }) => sum + messageBytes(id, envelope), 0),
    );
    const head = shard.head();
    let first = Number.POSITIVE_INFINITY;
    shard.layout = layout;
    for (const { id, when, envelope } of added) {
      const priority = envelope[ENVELOPE_PRIORITY_AT]!;
      const score = scoreOf(priority, dueMs(when, nowMs), 0);
      shard.seq = Math.max(shard.seq + 1, nowMs * 1000);
      if (!shard.levels.includes(priority)) shard.levels = [...shard.levels, priority].sort((a, b) => b - a);
      first = Math.min(first, readScore(score).ms);
      shard.add(id, { seq: shard.seq, envelope: envelope.slice() });
      shard.times.set(memberOf(shard.seq, id), score);
    }
    if (first < head) publishDue(keys, key, first);
    return isNew;
  },
};
