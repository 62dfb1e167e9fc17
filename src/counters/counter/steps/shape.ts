import { SHAPE } from "../../../generated/layouts/counter.ts";
import { shapeScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import { change, shardAt } from "./shard.ts";

export interface ShapeUse {
  layout: string;
  /**
   * "look" is for a read and refuses a layout older than the counter's. "count" is for an addition and accepts an older
   * one. "make" writes the layout if there is none or an older one. The others write nothing.
   */
  use: "look" | "count" | "make";
}

/** Compares a layout with the counter's. True if this layout or a newer one is stored. Law in lua/counter/shape.lua. */
export const shape: Operation<ShapeUse, boolean> = {
  name: "counter/shape",
  script: shapeScript,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  mustLast: true,
  encode: ({ layout, use }) => [layout, use],
  decode: (reply) => reply[0] === SHAPE.stored,
  local(keys, key, { layout, use }) {
    const shard = shardAt(keys, key, layout, use !== "look");
    const own = shard.get("@layout");
    if (own !== undefined && own.length >= layout.length) return true;
    if (use !== "make") return false;
    change(keys, key, shard, 256, () => shard.set("@layout", layout));
    return true;
  },
};
