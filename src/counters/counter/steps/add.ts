import { ADDED_BYTES, ADDED_GENERATION_AT, ADDED_STATUS_AT, STATUS } from "../../../generated/layouts/counter.ts";
import { addScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { unpackStrings } from "../../../store/message-pack.ts";
import { newerOf } from "../format/layout.ts";
import { change, shardAt } from "./shard.ts";

export interface Addition {
  layout: string;
  /** The field of a producer or a source that records its progress. */
  mark: string;
  /** Its value before and after, text without spaces. "": the field does not exist. */
  before: string;
  after: string;
  total: number | bigint;
  /** In the form of lua/counter/add.lua. */
  rows: Uint8Array;
  /**
   * For a batch that is sent again: where it was acknowledged, `<born>.<generation>`, else "". It is not counted if the
   * table has it.
   */
  again?: string;
}
export interface Added {
  isCounted: boolean;
  /** The current generation, by its number in the ledger. */
  generation: number;
  /** When the shard was created. "": unknown. */
  born: string;
  /** The mark's value before the step. */
  position: string;
}

const MAX_SUM = 2n ** 63n - 1n;
/** Memory of a row besides its text: a field and a number. */
const ROW_BYTES = 128;
/** About 6000 rows, which occupy the server for about 6 ms. */
const MAX_BYTES = 2 ** 17;

/** Counts a batch once; law in lua/counter/add.lua. */
export const add: Operation<Addition, Added> = {
  name: "counter/add",
  script: addScript,
  keyCount: 1,
  arity: 7,
  repeatable: true,
  maxBytes: MAX_BYTES,
  mustLast: true,
  encode: ({ layout, mark, before, after, total, rows, again = "" }) => [
    ...[layout, mark, before, after],
    ...[`${total}`, rows, again],
  ],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.length);
    const [born, position] = new TextDecoder().decode(reply.subarray(ADDED_BYTES)).split(" ") as [string, string];
    return {
      isCounted: reply[ADDED_STATUS_AT] === STATUS.done,
      generation: view.getFloat64(ADDED_GENERATION_AT, true),
      born,
      position,
    };
  },
  local(keys, key, { layout, mark, before, after, total, rows, again = "" }, nowMs) {
    const shard = shardAt(keys, key, layout, true);
    const { current, base } = shard.numbers;
    const generation = current + base;
    const position = shard.get(mark) ?? "";
    if (position !== before) return { isCounted: false, generation, born: shard.get("@born") ?? "", position };
    if (again !== "" && isInTable(again, shard.get("@rebased") ?? "")) {
      change(keys, key, shard, ROW_BYTES, () => shard.set(mark, after));
      return { isCounted: true, generation, born: shard.get("@born") ?? "", position };
    }
    const sum = BigInt(shard.get(`@n:${current}`) ?? 0) + BigInt(total);
    if (sum > MAX_SUM) throw new RangeError("increment or decrement would overflow");
    const counts = unpackStrings(rows);
    const growthBytes = rows.length * (again === "" ? 1 : 3) + ROW_BYTES * (counts.length / 2 + 8);
    change(keys, key, shard, growthBytes, () => {
      if (shard.get("@layout") === undefined) shard.set("@born", nowMs.toString(16));
      shard.set(`@n:${current}`, `${sum}`);
      shard.set("@layout", newerOf(shard.get("@layout"), layout));
      shard.set("@cur", `${current}`);
      shard.set(mark, after);
      if (again !== "") {
        const name = `r${current}|${again}|${mark}|${after}`;
        shard.set(name, counts.join("%;"));
        shard.setAgain([...shard.again.map(({ name }) => name), name]);
      }
      for (let i = 0; i < counts.length; i += 2) shard.add(`${current}|${counts[i]}`, BigInt(counts[i + 1]!));
    });
    return { isCounted: true, generation, born: shard.get("@born") ?? "", position };
  },
};

/**
 * Whether the table has a batch that was acknowledged in `where`, `<born>.<generation>`. `limit`, `<born>
 * <generation>`, is the state of the table when the shard was rebased on it. The twin of lua/counter/in-table.lua.
 */
export function isInTable(where: string, limit: string): boolean {
  const last = /^([0-9a-f]+) (\d+)$/.exec(limit);
  const own = /^([0-9a-f]*)\.(\d+)$/.exec(where);
  if (!last || !own) return false;
  return Number(own[2]) <= Number(last[2]) && Number.parseInt(`0${own[1]}`, 16) <= Number.parseInt(last[1]!, 16);
}
