import { PARTED_GENERATION_AT } from "../../../generated/layouts/counter.ts";
import { partScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { change, shardAt } from "./shard.ts";

/**
 * Starts a new generation because the shard does not fit a ledger that was read before. Returns the first generation,
 * by its number in the fields, that began after that read; 0 if there is no shard. Law in lua/counter/part.lua.
 */
export const part: Operation<{ layout: string; ledger: string }, number> = {
  name: "counter/part",
  script: partScript,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  encode: ({ layout, ledger }) => [layout, ledger],
  decode: (reply) => new DataView(reply.buffer, reply.byteOffset, reply.length).getFloat64(PARTED_GENERATION_AT, true),
  local(keys, key, { layout, ledger }) {
    const shard = shardAt(keys, key, layout);
    if (shard.get("@layout") === undefined) return 0;
    const pure = /^(\d+) (.*)$/s.exec(shard.get("@pure") ?? "");
    if (pure?.[2] === ledger) return Number(pure[1]);
    let { current } = shard.numbers;
    change(keys, key, shard, 256, () => {
      if (shard.get(`@n:${current}`) !== undefined) shard.set("@cur", `${++current}`);
      shard.set("@pure", `${current} ${ledger}`);
    });
    return current;
  },
};

/** A ledger's row as `part` and a shard's @pure name it. */
export function ledgerText({ generation, nonce }: { generation: number; nonce: string }): string {
  return `${generation} ${nonce}`;
}
