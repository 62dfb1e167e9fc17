import { BAND_SIZE } from "../../generated/layouts/queue.ts";
import { peekScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { keysOfShard, readScore, seqOfValue } from "../format/layout.ts";
import { Reader } from "../format/reader.ts";
import { shardAt } from "../format/shard.ts";
import type { StoredMessage } from "./get.ts";
import { readStoredMessages, storedMessages } from "./stored-message.ts";

export interface PeekResult {
  nowMs: number;
  waiting: StoredMessage[];
}

/** Lists the messages of a shard that would be claimed next. Law in lua/queue/peek.lua. */
export const peek: Operation<{ layout: string; limit: number }, PeekResult> = {
  name: "queue/peek",
  script: peekScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 2,
  repeatable: true,
  encode: ({ layout, limit }) => [layout, limit],
  decode(reply) {
    const reader = new Reader(reply);
    return { nowMs: reader.f64(), waiting: readStoredMessages(reader) };
  },
  local(keys, key, { layout, limit }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const all = shard.levels.flatMap((level) => shard.times.first(level, BAND_SIZE, limit));
    return {
      nowMs,
      waiting: storedMessages(shard, all.sort(([, one], [, other]) => byClaim(one, other, nowMs)).slice(0, limit)),
    };
  },
};

/** Merges all shards. Messages of the same ms and priority are in order of adding. */
export function inOrder(shards: readonly PeekResult[]): StoredMessage[] {
  const nowMs = Math.max(...shards.map((each) => each.nowMs));
  return shards
    .flatMap(({ waiting }) => waiting)
    .sort((one, other) => byClaim(one.score, other.score, nowMs) || seqOfValue(one.value) - seqOfValue(other.value));
}

/**
 * Compares in claim order: due messages by priority and time, then the others by time and priority. 0: keep the order
 * of the shard.
 */
function byClaim(one: number, other: number, nowMs: number): number {
  const [a, b] = [readScore(one), readScore(other)];
  if (a.ms <= nowMs !== b.ms <= nowMs) return a.ms - b.ms;
  const byPriority = b.band - a.band;
  return (a.ms <= nowMs ? byPriority || a.ms - b.ms : a.ms - b.ms || byPriority) || a.deliveries - b.deliveries;
}
