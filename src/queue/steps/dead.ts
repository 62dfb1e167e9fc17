import { BAND_SIZE, DEAD } from "../../generated/layouts/queue.ts";
import { deadScript } from "../../generated/scripts/queue.ts";
import type { Operation } from "../../store/contract.ts";
import { keysOfShard } from "../format/layout.ts";
import { Reader } from "../format/reader.ts";
import { shardAt } from "../format/shard.ts";
import type { StoredMessage } from "./get.ts";
import { readStoredMessages, storedMessages } from "./stored-message.ts";

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
