import { script } from "../generated/counter/shape.ts";
import type { Operation } from "../store/contract.ts";
import { change, shardAt } from "./shard.ts";

export interface ShapeUse {
  layout: string;
  /** look: writes nothing. make: writes the layout where there is none. */
  use: "look" | "make";
}

/** Compares a layout with the counter's own; whether there is one by now. Law in lua/counter/shape.lua. */
export const shape: Operation<ShapeUse, boolean> = {
  name: "counter/shape",
  script,
  keyCount: 1,
  arity: 2,
  repeatable: true,
  mustLast: true,
  encode: ({ layout, use }) => [layout, use],
  decode: (reply) => reply[0] === 0,
  local(keys, key, { layout, use }) {
    const shard = shardAt(keys, key, layout);
    if (shard.get("@layout") !== undefined) return true;
    if (use !== "make") return false;
    change(keys, key, shard, 256, () => shard.set("@layout", layout));
    return true;
  },
};
