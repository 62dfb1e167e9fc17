import { STATUS } from "../../../generated/layouts/counter.ts";
import { acknowledgeScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { change, shardAt } from "./shard.ts";

export interface Acknowledgement {
  layout: string;
  /** Its number in the ledger. */
  generation: number;
  nonce: string;
}

/** Records that a generation is in the table. False if it is not the frozen one. Law in lua/counter/acknowledge.lua. */
export const acknowledge: Operation<Acknowledgement, boolean> = {
  name: "counter/acknowledge",
  script: acknowledgeScript,
  keyCount: 1,
  arity: 3,
  repeatable: true,
  encode: ({ layout, generation, nonce }) => [layout, generation, nonce],
  decode: (reply) => reply[0] === STATUS.done,
  local(keys, key, { layout, generation, nonce }) {
    const shard = shardAt(keys, key, layout);
    const { current, acknowledged, base } = shard.numbers;
    const own = generation - base;
    if (acknowledged >= own) return true;
    if (own !== acknowledged + 1 || current === own || shard.get(`@x:${own}`) !== nonce) return false;
    change(keys, key, shard, 64, () => {
      shard.set("@ack", `${own}`);
      for (const field of [`@x:${own}`, `@n:${own}`, "@pure"]) shard.delete(field);
      const left = shard.again.filter(({ name, generation }) => generation > own || !shard.delete(name));
      shard.setAgain(left.map(({ name }) => name));
    });
    return true;
  },
};
