import { script } from "../generated/lock/acquire.ts";
import type { Operation } from "../store/contract.ts";
import { refusal } from "../store/refusal.ts";
import { fenceKeyOf, holdOf, OUR_TOKENS, setHold } from "./keys.ts";
import { law } from "./law.ts";

export interface Claim {
  token: string;
  leaseMs: number;
}

/** The hold's fence; or, where another holds the lock, after how long looking again is worthwhile. */
export type Answer = { fence: number } | { lookAgainMs: number };

/** Takes a lock for a token, unless another holds it; law in lua/lock/acquire.lua. */
export const acquire: Operation<Claim, Answer> = {
  name: "lock/acquire",
  script,
  arity: 2,
  keyCount: 2,
  keysOf: (key) => [key, fenceKeyOf(key)],
  repeatable: true,
  encode: ({ token, leaseMs }) => [token, leaseMs],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    const number = view.getFloat64(1, true);
    return view.getUint8(0) === 1 ? { fence: number } : { lookAgainMs: number };
  },
  local(keys, key, { token, leaseMs }, nowMs) {
    const hold = holdOf(keys, key);
    if (hold && hold.token !== token) {
      const leftMs = hold.expireAtMs - nowMs + 1;
      return { lookAgainMs: hold.token.startsWith(OUR_TOKENS) ? leftMs : Math.min(leftMs, law.strangerMs) };
    }
    const fenceKey = fenceKeyOf(key);
    const before = keys.get(fenceKey) as number | undefined;
    if (before !== undefined && before >= law.largestFence)
      throw refusal("CORRUPT", "the lock's last fence is no whole number below 2^53 - 1");
    const fence = hold && before !== undefined ? before : Math.max((before ?? 0) + 1, nowMs * 1000);
    keys.set(fenceKey, fence, 16, Math.ceil(fence / 1000) + law.fenceLifeMs);
    setHold(keys, key, token, Math.max(nowMs + leaseMs, hold?.expireAtMs ?? 0));
    return { fence };
  },
};
