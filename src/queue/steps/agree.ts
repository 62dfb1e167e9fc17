import { agreeScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { keysOfShard } from "../format/layout.ts";
import { keepShard, shardAt } from "../format/shard.ts";

/** Writes the queue's layout into its home shard, or compares it. Law in lua/queue/agree.lua. */
export const agree: Operation<{ layout: string }, void> = {
  name: "queue/agree",
  script: agreeScript,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 1,
  repeatable: true,
  mustLast: true,
  encode: ({ layout }) => [layout],
  decode: () => undefined,
  local(keys, key, { layout }) {
    const shard = shardAt(keys, key, layout);
    keepShard(keys, key, shard);
    shard.layout = layout;
    shard.isHome = true;
  },
};
