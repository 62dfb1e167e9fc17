import { STATUS } from "../../../generated/layouts/counter.ts";
import { setAsideScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";
import type { Shard } from "./shard.ts";

export interface SetAside {
  /** Another key of the shard's slot. */
  aside: string;
  /** The observed state of the key, `<type> <layout> <born>`, with "-" for a missing part. */
  seen: string;
}

/** Renames a shard's key. False if its state is not the observed one. Law in lua/counter/set-aside.lua. */
export const setAside: Operation<SetAside, boolean> = {
  name: "counter/set-aside",
  script: setAsideScript,
  keyCount: 2,
  arity: 1,
  repeatable: false,
  keysOf: (key, { aside }) => [key, aside],
  encode: ({ seen }) => [seen],
  decode: (reply) => reply[0] === STATUS.done,
  local(keys, key, { aside, seen }) {
    const shard = keys.get(key) as Shard | undefined;
    if (!shard || keys.get(aside) !== undefined) return false;
    if (`hash ${shard.get("@layout") ?? "-"} ${shard.get("@born") ?? "-"}` !== seen) return false;
    keys.delete(key);
    keys.set(aside, shard, shard.sizeBytes, Number.POSITIVE_INFINITY);
    return true;
  },
};
