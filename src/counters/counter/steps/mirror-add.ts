import { mirrorScript } from "../../../generated/scripts/counter.ts";
import type { Operation } from "../../../store/contract.ts";

const MAX_SUM = 2n ** 63n - 1n;
const KEY_BYTES = 64;

/** Adds to a plain key and extends its expiry. Sent only once. Law in lua/counter/mirror.lua. */
export const mirrorAdd: Operation<{ count: bigint; keepMs: number }, void> = {
  name: "counter/mirror",
  script: mirrorScript,
  keyCount: 1,
  arity: 2,
  repeatable: false,
  encode: ({ count, keepMs }) => [`${count}`, keepMs],
  decode: () => undefined,
  local(keys, key, { count, keepMs }, nowMs) {
    const sum = BigInt((keys.get(key) as string | undefined) ?? 0) + count;
    if (sum > MAX_SUM) throw new RangeError("increment or decrement would overflow");
    keys.set(key, `${sum}`, KEY_BYTES, nowMs + keepMs);
  },
};
