import { script } from "../generated/counter/page.ts";
import type { Operation } from "../store/contract.ts";
import { shardAt } from "./shard.ts";

export interface Page {
  /** "0": there is no more. */
  cursor: string;
  /** As the fields count them; the base added, as the ledger does. */
  generation: number;
  acknowledged: number;
  base: number;
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
    const [cursor, generation, acknowledged, base, ...fields] = new TextDecoder().decode(reply).split("\n");
    fields.pop(); // behind the last line feed
    const numbers = { generation: Number(generation), acknowledged: Number(acknowledged), base: Number(base) };
    return { cursor: cursor!, ...numbers, fields };
  },
  local(keys, key, { layout }) {
    const shard = shardAt(keys, key, layout);
    const { current, acknowledged, base } = shard.numbers;
    return { cursor: "0", generation: current, acknowledged, base, fields: [...shard.fields].flat() };
  },
};
