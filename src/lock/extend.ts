import { script } from "../generated/lock/extend.ts";
import type { Operation } from "../store/contract.ts";
import { holdOf, setHold } from "./keys.ts";

export interface Claim {
  token: string;
  leaseMs: number;
}

/** Makes a hold last until now + lease at least, if it still stands; law in lua/lock/extend.lua. */
export const extend: Operation<Claim, boolean> = {
  name: "lock/extend",
  script,
  arity: 2,
  keyCount: 1,
  repeatable: true,
  encode: ({ token, leaseMs }) => [token, leaseMs],
  decode: (reply) => reply[0] === 1,
  local(keys, key, { token, leaseMs }, nowMs) {
    const hold = holdOf(keys, key);
    if (hold?.token !== token) return false;
    if (hold.expireAtMs < nowMs + leaseMs) setHold(keys, key, token, nowMs + leaseMs);
    return true;
  },
};
