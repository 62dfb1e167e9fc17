import { script } from "../generated/counter/sweep.ts";
import type { Operation } from "../store/contract.ts";
import { law } from "./law.ts";
import { packStrings } from "./message-pack.ts";
import { change, shardAt } from "./shard.ts";

/** Deletes what counts no more; how many fields. Law in lua/counter/sweep.lua. */
export const sweep: Operation<{ layout: string; fields: readonly string[] }, number> = {
  name: "counter/sweep",
  script,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  encode: ({ layout, fields }) => [layout, packStrings(fields)],
  decode: (reply) => new DataView(reply.buffer, reply.byteOffset).getFloat64(0, true),
  local(keys, key, { layout, fields }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const acknowledged = shard.number("@ack", 0);
    const goes = (field: string) => {
      const generation = /^(\d+)\|/.exec(field)?.[1];
      if (generation !== undefined) return Number(generation) <= acknowledged;
      const mark = field.startsWith("w:") ? shard.get(field) : undefined;
      return mark !== undefined && nowMs - Number(mark.split(" ")[1]) > law.producerLifeMs;
    };
    const going = fields.filter(goes);
    if (going.length === 0) return 0;
    let gone = 0;
    change(keys, key, shard, 0, () => {
      for (const field of going) if (shard.delete(field)) gone++;
    });
    return gone;
  },
};
