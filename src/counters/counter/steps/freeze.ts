import { corruptError } from "../../../base/errors.ts";
import { FROZEN_ACKNOWLEDGED_AT, FROZEN_BYTES, FROZEN_GENERATION_AT } from "../../../generated/layouts/counter.ts";
import { freezeScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { change, shardAt } from "./shard.ts";

export interface Frozen {
  /** The last acknowledged generation, by its number in the ledger. */
  acknowledged: number;
  /** The frozen generation. Undefined if there is nothing to drain. */
  generation?: { number: number; nonce: string; sum: bigint };
}

/** Freezes the current generation, unless an earlier one is frozen. Law in lua/counter/freeze.lua. */
export const freeze: Operation<{ layout: string; nonce: string }, Frozen> = {
  name: "counter/freeze",
  script: freezeScript,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  mustLast: true,
  encode: ({ layout, nonce }) => [layout, nonce],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
    const acknowledged = view.getFloat64(FROZEN_ACKNOWLEDGED_AT, true);
    const number = view.getFloat64(FROZEN_GENERATION_AT, true);
    if (number === 0) return { acknowledged };
    const [nonce, sum] = new TextDecoder().decode(reply.subarray(FROZEN_BYTES)).split(" ") as [string, string];
    return { acknowledged, generation: { number, nonce, sum: BigInt(sum) } };
  },
  local(keys, key, { layout, nonce }, nowMs) {
    const shard = shardAt(keys, key, layout);
    const { current, acknowledged, base } = shard.numbers;
    const own = acknowledged + 1;
    const sum = shard.get(`@n:${own}`);
    if (current === own && sum === undefined) return { acknowledged: acknowledged + base };
    if (!/^\d+$/.test(sum ?? "")) throw corruptError(key, `its field @n:${own} is not a whole number`);
    if (current === own || shard.get(`@x:${own}`) === undefined)
      change(keys, key, shard, 256, () => {
        const born = shard.get("@born");
        shard.set(`@x:${own}`, `${nonce}-${nowMs}${born === undefined ? "" : `-b${born}`}`);
        if (current === own) shard.set("@cur", `${current + 1}`);
      });
    const generation = { number: own + base, nonce: shard.get(`@x:${own}`)!, sum: BigInt(sum!) };
    return { acknowledged: acknowledged + base, generation };
  },
};
