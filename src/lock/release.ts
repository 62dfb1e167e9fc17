import { script } from "../generated/lock/release.ts";
import type { Operation } from "../store/contract.ts";
import { channelOf, holdOf } from "./keys.ts";

/**
 * Frees a lock, if it is still held by the token; law in lua/lock/release.lua. Harmless when repeated, but the second
 * answer would say "not held" of what the first has freed: whoever sends it again knows what to make of that.
 */
export const release: Operation<string, boolean> = {
  name: "lock/release",
  script,
  arity: 1,
  keyCount: 1,
  repeatable: false,
  encode: (token) => [token],
  decode: (reply) => reply[0] === 1,
  local(keys, key, token) {
    if (holdOf(keys, key)?.token !== token) return false;
    keys.delete(key);
    keys.publish(channelOf(key));
    return true;
  },
};
