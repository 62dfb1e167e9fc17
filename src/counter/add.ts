import { script } from "../generated/counter/add.ts";
import type { Operation } from "../store/contract.ts";
import { unpackStrings } from "../store/message-pack.ts";
import { change, shardAt } from "./shard.ts";

export interface Addition {
  layout: string;
  /** The field that moves: a producer's or a source's. */
  mark: string;
  /** Its place before and after, text without spaces; "": none yet. */
  before: string;
  after: string;
  total: number | bigint;
  /** As lua/counter/add.lua has them. */
  rows: Uint8Array;
}
export interface Added {
  isCounted: boolean;
  generation: number;
  /** Where the mark was. */
  place: string;
}

const MOST_SUM = 2n ** 63n - 1n;
const ROW_BYTES = 64;
/** Some 6000 rows: as many ms for the server. */
const MOST_BYTES = 2 ** 17;

/** Counts a batch once; law in lua/counter/add.lua. */
export const add: Operation<Addition, Added> = {
  name: "counter/add",
  script,
  keyCount: 1,
  arity: 6,
  repeatable: true,
  mostBytes: MOST_BYTES,
  mustLast: true,
  encode: ({ layout, mark, before, after, total, rows }) => [layout, mark, before, after, `${total}`, rows],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
    const place = new TextDecoder().decode(reply.subarray(9));
    return { isCounted: view.getUint8(0) === 0, generation: view.getFloat64(1, true), place };
  },
  local(keys, key, { layout, mark, before, after, total, rows }) {
    const shard = shardAt(keys, key, layout);
    const generation = shard.number("@cur", 1);
    const place = shard.get(mark) ?? "";
    if (place !== before) return { isCounted: false, generation, place };
    const sum = BigInt(shard.get(`@n:${generation}`) ?? 0) + BigInt(total);
    if (sum > MOST_SUM) throw new RangeError("increment or decrement would overflow");
    const counts = unpackStrings(rows);
    change(keys, key, shard, rows.length + ROW_BYTES * (counts.length / 2 + 4), () => {
      shard.set(`@n:${generation}`, `${sum}`);
      shard.set("@layout", layout);
      shard.set("@cur", `${generation}`);
      shard.set(mark, after);
      for (let i = 0; i < counts.length; i += 2) shard.add(`${generation}|${counts[i]}`, BigInt(counts[i + 1]!));
    });
    return { isCounted: true, generation, place };
  },
};
