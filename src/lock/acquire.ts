import { corruptError } from "../errors.ts";
import { script } from "../generated/lock/acquire.ts";
import type { Keyspace, Operation } from "../store/contract.ts";
import type { Claim } from "./extend.ts";
import { fenceKeyOf, type Hold, holdOf, OUR_TOKENS, queueKeyOf, setHold } from "./keys.ts";
import { law } from "./law.ts";
import { promiseToAnother } from "./promise.ts";
import { type Queue, readQueue, without, withPlace, writeQueue } from "./queue.ts";

export interface Request extends Claim {
  /** The process, if it waits when it is refused, else "". */
  id: string;
}

/** The hold's fence; or, where it was refused, after how long looking again is worthwhile. */
export type Answer = { fence: number } | { lookAgainMs: number };

/** Takes a lock for a token, unless another holds it or is promised it; law in lua/lock/acquire.lua. */
export const acquire: Operation<Request, Answer> = {
  name: "lock/acquire",
  script,
  arity: 3,
  keyCount: 3,
  keysOf: (key) => [key, fenceKeyOf(key), queueKeyOf(key)],
  repeatable: true,
  encode: ({ token, leaseMs, id }) => [token, leaseMs, id],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    const number = view.getFloat64(1, true);
    return view.getUint8(0) === 1 ? { fence: number } : { lookAgainMs: number };
  },
  local(keys, key, { token, leaseMs, id }, nowMs) {
    const hold = holdOf(keys, key);
    const queue = readQueue(keys, key, nowMs);
    const lookAgainMs = hold ? heldForMs(hold, token, nowMs) : keptForMs(keys, key, queue, id, nowMs);
    if (lookAgainMs > 0) {
      const isPromisedNow = !hold && queue.promisedUntilMs < nowMs;
      if (!isPromisedNow && id !== "")
        writeQueue(keys, key, { ...queue, places: withPlace(queue.places, id, nowMs) }, nowMs);
      return { lookAgainMs };
    }
    const fenceKey = fenceKeyOf(key);
    const before = keys.get(fenceKey) as number | undefined;
    if (before !== undefined && !(Number.isSafeInteger(before) && before >= 0 && before < law.largestFence))
      throw corruptError(fenceKey, "the last fence is no whole number below 2^53 - 1");
    const fence = hold && before !== undefined ? before : Math.max((before ?? 0) + 1, nowMs * 1000);
    keys.set(fenceKey, fence, 16, Math.ceil(fence / 1000) + law.fenceLifeMs);
    setHold(keys, key, token, Math.max(nowMs + leaseMs, hold?.expireAtMs ?? 0));
    if (!hold && queue.places !== "") {
      const places = id === "" ? queue.places : without(queue.places, id);
      writeQueue(keys, key, { ...queue, promisedUntilMs: 0, places }, nowMs);
    }
    return { fence };
  },
};

/** After how long whoever is refused looks again; 0 where it is not. */
function keptForMs(keys: Keyspace, key: string, queue: Queue, id: string, nowMs: number): number {
  const untilMs = promiseToAnother(keys, key, queue, id, nowMs);
  return untilMs > 0 ? untilMs - nowMs + 1 : 0;
}

function heldForMs(hold: Hold, token: string, nowMs: number): number {
  if (hold.token === token) return 0;
  const leftMs = hold.expireAtMs - nowMs + 1;
  return hold.token.startsWith(OUR_TOKENS) ? leftMs : Math.min(leftMs, law.strangerMs);
}
