import { script } from "../generated/counter/page.ts";
import type { Operation } from "../store/contract.ts";
import { shardAt } from "./shard.ts";

export interface Page {
  /** "0": there is no more. */
  cursor: string;
  generation: number;
  acknowledged: number;
  /** Names and values by turns. */
  fields: string[];
}

/** Reads a shard, some fields at a time; law in lua/counter/page.lua. In memory all of it is one page. */
export const page: Operation<{ layout: string; cursor: string; count: number }, Page> = {
  name: "counter/page",
  script,
  keyCount: 1,
  arity: 3,
  repeatable: true,
  encode: ({ layout, cursor, count }) => [layout, cursor, count],
  decode(reply) {
    const [cursor, generation, acknowledged, ...fields] = new TextDecoder().decode(reply).split("\n");
    fields.pop(); // behind the last line feed
    return { cursor: cursor!, generation: Number(generation), acknowledged: Number(acknowledged), fields };
  },
  local(keys, key, { layout }) {
    const shard = shardAt(keys, key, layout);
    return {
      cursor: "0",
      generation: shard.number("@cur", 1),
      acknowledged: shard.number("@ack", 0),
      fields: [...shard.fields].flat(),
    };
  },
};
