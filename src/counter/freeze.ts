import { script } from "../generated/counter/freeze.ts";
import type { Operation } from "../store/contract.ts";
import { change, shardAt } from "./shard.ts";

export interface Frozen {
  /** Last generation that is safely elsewhere. */
  acknowledged: number;
  /** The one that waits for it; undefined where nothing is to be drained. */
  generation?: { number: number; nonce: string; sum: bigint };
}

/** Ends the generation that is being filled; law in lua/counter/freeze.lua. */
export const freeze: Operation<{ layout: string; nonce: string }, Frozen> = {
  name: "counter/freeze",
  script,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  mustLast: true,
  encode: ({ layout, nonce }) => [layout, nonce],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
    const acknowledged = view.getFloat64(0, true);
    const number = view.getFloat64(8, true);
    if (number === 0) return { acknowledged };
    const [nonce, sum] = new TextDecoder().decode(reply.subarray(16)).split(" ") as [string, string];
    return { acknowledged, generation: { number, nonce, sum: BigInt(sum) } };
  },
  local(keys, key, { layout, nonce }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const current = shard.number("@cur", 1);
    const acknowledged = shard.number("@ack", 0);
    const number = acknowledged + 1;
    const sum = shard.get(`@n:${number}`);
    if (current === number) {
      if (sum === undefined) return { acknowledged };
      change(keys, key, shard, 256, () => {
        shard.set(`@x:${number}`, `${nonce}-${nowMs}`);
        shard.set("@cur", `${current + 1}`);
      });
    }
    return { acknowledged, generation: { number, nonce: shard.get(`@x:${number}`)!, sum: BigInt(sum!) } };
  },
};
