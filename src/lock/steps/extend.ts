import { extendScript } from "../../generated/scripts/lock.ts";
import type { Operation } from "../../store/contract.ts";
import { holdOf, setHold } from "./keys.ts";

export interface HoldRequest {
  token: string;
  leaseMs: number;
}

/** Extends a hold to last at least until now + lease, if it is still held. lua/lock/extend.lua states the rules. */
export const extend: Operation<HoldRequest, boolean> = {
  name: "lock/extend",
  script: extendScript,
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
