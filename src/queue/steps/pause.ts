import { pauseScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { keysOfShard } from "../format/layout.ts";
import { expireIfEmpty, keepShard, publishDue, shardAt } from "../format/shard.ts";

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
