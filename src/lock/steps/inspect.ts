import { corruptError } from "../../errors.ts";
import {
  HEAD_LENGTH,
  ID_LENGTH,
  INSPECTED_BYTES,
  INSPECTED_FENCE_BYTES_AT,
  INSPECTED_LEFT_MS_AT,
  INSPECTED_NOW_MS_AT,
  INSPECTED_TOKEN_BYTES_AT,
  PLACE_LENGTH,
} from "../../generated/layouts/lock.ts";
import { inspectScript } from "../../generated/scripts/lock.ts";
import type { Operation } from "../../store/contract.ts";
import { fenceKeyOf, holdOf, queueKeyOf } from "./keys.ts";
import { msIn } from "./queue.ts";

export interface Inspected {
  /** "" if the lock is free. */
  token: string;
  /** Of the last hold; 0 if none is known. */
  fence: number;
  /** 0 if the lock is free; -1 if the hold never expires. */
  leftMs: number;
  /** Processes in the queue. */
  waiting: number;
}

/** Reads the state of a lock. lua/lock/inspect.lua states the rules. */
export const inspect: Operation<void, Inspected> = {
  name: "lock/inspect",
  script: inspectScript,
  arity: 0,
  keyCount: 3,
  keysOf: (key) => [key, fenceKeyOf(key), queueKeyOf(key)],
  repeatable: true,
  encode: () => [],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    const tokenEnd = INSPECTED_BYTES + view.getUint32(INSPECTED_TOKEN_BYTES_AT, true);
    const fenceEnd = tokenEnd + view.getUint32(INSPECTED_FENCE_BYTES_AT, true);
    const text = (from: number, to?: number) => new TextDecoder().decode(reply.subarray(from, to));
    const fence = Number(text(tokenEnd, fenceEnd));
    if (!Number.isSafeInteger(fence) || fence < 0) throw corruptError("fence", "the last fence is not an integer");
    return {
      token: text(INSPECTED_BYTES, tokenEnd),
      fence,
      leftMs: view.getFloat64(INSPECTED_LEFT_MS_AT, true),
      waiting: waitingIn("waiting", text(fenceEnd), view.getFloat64(INSPECTED_NOW_MS_AT, true)),
    };
  },
  local(keys, key, _input, nowMs) {
    const hold = holdOf(keys, key);
    return {
      token: hold?.token ?? "",
      fence: (keys.get(fenceKeyOf(key)) as number | undefined) ?? 0,
      leftMs: hold ? hold.expireAtMs - nowMs : 0,
      waiting: waitingIn(queueKeyOf(key), (keys.get(queueKeyOf(key)) as string | undefined) ?? "", nowMs),
    };
  },
};

/** The number of places in the text of a queue that have not ended. */
function waitingIn(key: string, text: string, nowMs: number): number {
  let waiting = 0;
  for (let at = HEAD_LENGTH; at < text.length; at += PLACE_LENGTH)
    if (msIn(key, text, at + ID_LENGTH) >= nowMs) waiting++;
  return waiting;
}
