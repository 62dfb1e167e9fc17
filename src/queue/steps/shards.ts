import {
  BAND_SIZE,
  CLAIMED,
  COUNTS_CLAIMED_AT,
  COUNTS_DEAD_AT,
  COUNTS_DUE_AT,
  COUNTS_IS_PAUSED_AT,
  COUNTS_LAG_MS_AT,
  COUNTS_WAITING_AT,
  DEAD,
} from "../../generated/layouts/queue.ts";
import { countsScript, pauseScript, peekScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { keysOfShard, Reader, readScore, seqOfValue } from "../format/layout.ts";
import { expireIfEmpty, keepShard, publishDue, shardAt } from "../format/shard.ts";
import { readStoredMessages, type StoredMessage, storedMessages } from "./messages.ts";

/** Messages of a queue by state. `due` are those that could be claimed now. */
export interface QueueCounts {
  waiting: number;
  due: number;
  claimed: number;
  dead: number;
  isPaused: boolean;
}

interface ShardCounts extends QueueCounts {
  /** How long the oldest due message has been due; 0 without one. */
  lagMs: number;
}

/** Counts the messages in each state. Law in lua/queue/counts.lua. */
export const counts: Operation<{ layout: string }, ShardCounts> = {
  name: "queue/counts",
  script: countsScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 1,
  repeatable: true,
  encode: ({ layout }) => [layout],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
    return {
      waiting: view.getFloat64(COUNTS_WAITING_AT, true),
      due: view.getFloat64(COUNTS_DUE_AT, true),
      claimed: view.getFloat64(COUNTS_CLAIMED_AT, true),
      dead: view.getFloat64(COUNTS_DEAD_AT, true),
      isPaused: view.getFloat64(COUNTS_IS_PAUSED_AT, true) === 1,
      lagMs: view.getFloat64(COUNTS_LAG_MS_AT, true),
    };
  },
  local(keys, key, { layout }, nowMs) {
    const { times, levels, isPaused } = shardAt(keys, key, layout);
    const sum = (fromMs: number, untilMs: number) =>
      levels.reduce((all, level) => all + times.count(level, fromMs, untilMs), 0);
    const oldest = levels.flatMap((level) => times.first(level, nowMs, 1).map(([, score]) => readScore(score).ms));
    return {
      waiting: sum(nowMs + 1, BAND_SIZE),
      due: sum(0, nowMs),
      claimed: times.count(CLAIMED, 0, BAND_SIZE),
      dead: times.count(DEAD, 0, BAND_SIZE),
      isPaused,
      lagMs: nowMs - Math.min(nowMs, ...oldest),
    };
  },
};

/** The sums of all shards. */
export function totalOf(shards: readonly QueueCounts[]): QueueCounts {
  const sum = (of: "waiting" | "due" | "claimed" | "dead") => shards.reduce((count, each) => count + each[of], 0);
  const states = { waiting: sum("waiting"), due: sum("due"), claimed: sum("claimed"), dead: sum("dead") };
  return { ...states, isPaused: shards.some((each) => each.isPaused) };
}

/** Pauses or resumes a queue. Law in lua/queue/pause.lua. */
export const pause: Operation<{ layout: string; isPaused: boolean }, void> = {
  name: "queue/pause",
  script: pauseScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 2,
  // A late copy would undo later calls.
  repeatable: false,
  encode: ({ layout, isPaused }) => [layout, isPaused ? "1" : "0"],
  decode: () => undefined,
  local(keys, key, { layout, isPaused }, nowMs) {
    const shard = shardAt(keys, key, layout);
    keepShard(keys, key, shard);
    shard.layout = layout;
    shard.isPaused = isPaused;
    if (isPaused) return;
    expireIfEmpty(keys, key, shard, nowMs);
    publishDue(keys, key, 0);
  },
};

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
