import { SWEPT_FIELDS_AT } from "../../../generated/layouts/counter.ts";
import { sweepScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { packStrings } from "../../../store/message-pack.ts";
import { change, shardAt } from "./shard.ts";

export interface Leftovers {
  layout: string;
  /** Names of fields in alternation with the expected values of marks ("" for other fields). */
  fields: readonly string[];
}

/** Deletes fields that no longer count. Returns their number. Law in lua/counter/sweep.lua. */
export const sweep: Operation<Leftovers, number> = {
  name: "counter/sweep",
  script: sweepScript,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  encode: ({ layout, fields }) => [layout, packStrings(fields)],
  decode: (reply) => new DataView(reply.buffer, reply.byteOffset).getFloat64(SWEPT_FIELDS_AT, true),
  local(keys, key, { layout, fields }) {
    const shard = shardAt(keys, key, layout);
    const acknowledged = shard.number("@ack", 0);
    const goes = (field: string, position: string | undefined) => {
      const generation = /^(\d+)\|/.exec(field)?.[1];
      if (generation !== undefined) return Number(generation) <= acknowledged;
      return field.startsWith("w:") && shard.get(field) === position;
    };
    const going = fields.filter((field, i) => i % 2 === 0 && goes(field, fields[i + 1]));
    if (going.length === 0) return 0;
    let gone = 0;
    change(keys, key, shard, 0, () => {
      for (const field of going) if (shard.delete(field)) gone++;
    });
    return gone;
  },
};
