import {
  INSPECTED_BYTES,
  INSPECTED_FENCE_BYTES_AT,
  INSPECTED_LEFT_MS_AT,
  INSPECTED_NOW_MS_AT,
  INSPECTED_TOKEN_BYTES_AT,
} from "../../generated/layouts/lock.ts";
import { inspectScript } from "../../generated/scripts/lock.ts";
import type { Operation } from "../../store/contract.ts";
import { fenceKeyOf, holdOf, queueKeyOf } from "./keys.ts";

/** The state of a lock as it is stored. */
export interface StoredState {
  /** "" if the lock is free. */
  token: string;
  /** The last fence in decimal; "" if none is known. */
  fence: string;
  /** The queue of waiting processes (lua/lock/queue.lua). */
  queue: string;
  /** 0 if the lock is free; -1 if the hold never expires. */
  leftMs: number;
  /** When the state was read. */
  nowMs: number;
}

/** Reads the state of a lock. lua/lock/inspect.lua states the rules. */
export const inspect: Operation<void, StoredState> = {
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
    return {
      token: text(INSPECTED_BYTES, tokenEnd),
      fence: text(tokenEnd, fenceEnd),
      queue: text(fenceEnd),
      leftMs: view.getFloat64(INSPECTED_LEFT_MS_AT, true),
      nowMs: view.getFloat64(INSPECTED_NOW_MS_AT, true),
    };
  },
  local(keys, key, _input, nowMs) {
    const hold = holdOf(keys, key);
    return {
      token: hold?.token ?? "",
      fence: String(keys.get(fenceKeyOf(key)) ?? ""),
      queue: String(keys.get(queueKeyOf(key)) ?? ""),
      leftMs: hold ? hold.expireAtMs - nowMs : 0,
      nowMs,
    };
  },
};
