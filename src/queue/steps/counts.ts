import {
  BAND_SIZE,
  CLAIMED,
  COUNTS_CLAIMED_AT,
  COUNTS_DEAD_AT,
  COUNTS_DUE_AT,
  COUNTS_IS_PAUSED_AT,
  COUNTS_WAITING_AT,
  DEAD,
} from "../../generated/layouts/queue.ts";
import { countsScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { keysOfShard } from "../format/layout.ts";
import { shardAt } from "../format/shard.ts";

export interface QueueCounts {
  waiting: number;
  due: number;
  claimed: number;
  dead: number;
  isPaused: boolean;
}

/** Counts the messages in each state. Law in lua/queue/counts.lua. */
export const counts: Operation<{ layout: string }, QueueCounts> = {
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
    };
  },
  local(keys, key, { layout }, nowMs) {
    const { times, levels, isPaused } = shardAt(keys, key, layout);
    const sum = (fromMs: number, untilMs: number) =>
      levels.reduce((all, level) => all + times.count(level, fromMs, untilMs), 0);
    return {
      waiting: sum(nowMs + 1, BAND_SIZE),
      due: sum(0, nowMs),
      claimed: times.count(CLAIMED, 0, BAND_SIZE),
      dead: times.count(DEAD, 0, BAND_SIZE),
      isPaused,
    };
  },
};
