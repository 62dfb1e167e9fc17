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
import { countsScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { keysOfShard, readScore } from "../format/layout.ts";
import { shardAt } from "../format/shard.ts";

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
