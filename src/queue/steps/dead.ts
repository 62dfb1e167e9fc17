import { script } from "../../generated/queue/dead.ts";
import type { Operation } from "../../store/contract.ts";
import { BAND_SIZE, DEAD, keysOfShard } from "../format/layout.ts";
import { Reader } from "../format/reader.ts";
import { shardAt } from "../format/shard.ts";
import { listed, readListed } from "./listing.ts";
import type { Looked } from "./look.ts";

/** Lists dead messages, the earliest death first. Law in lua/queue/dead.lua. */
export const dead: Operation<{ layout: string; passedOver: number; most: number }, Looked[]> = {
  name: "queue/dead",
  script,
  keyCount: 2,
  keysOf: keysOfShard,
  arity: 3,
  repeatable: true,
  encode: ({ layout, passedOver, most }) => [layout, passedOver, most],
  decode: (reply) => readListed(new Reader(reply)),
  local(keys, key, { layout, passedOver, most }) {
    const shard = shardAt(keys, key, layout);
    return listed(shard, shard.times.first(DEAD, BAND_SIZE, passedOver + most).slice(passedOver));
  },
};
