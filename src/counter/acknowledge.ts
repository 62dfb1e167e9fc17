import { script } from "../generated/counter/acknowledge.ts";
import type { Operation } from "../store/contract.ts";
import { change, shardAt } from "./shard.ts";

export interface Acknowledgement {
  layout: string;
  generation: number;
  nonce: string;
}

/** Says that a generation is safely elsewhere; false where it is not the frozen one. Law in lua/counter/acknowledge.lua. */
export const acknowledge: Operation<Acknowledgement, boolean> = {
  name: "counter/acknowledge",
  script,
  keyCount: 1,
  arity: 3,
  repeatable: true,
  encode: ({ layout, generation, nonce }) => [layout, generation, nonce],
  decode: (reply) => reply[0] === 0,
  local(keys, key, { layout, generation, nonce }) {
    const shard = shardAt(keys, key, layout);
    const acknowledged = shard.number("@ack", 0);
    if (acknowledged >= generation) return true;
    if (generation !== acknowledged + 1 || shard.number("@cur", 1) === generation) return false;
    if (shard.get(`@x:${generation}`) !== nonce) return false;
    change(keys, key, shard, 64, () => {
      shard.set("@ack", `${generation}`);
      shard.delete(`@x:${generation}`);
      shard.delete(`@n:${generation}`);
    });
    return true;
  },
};
