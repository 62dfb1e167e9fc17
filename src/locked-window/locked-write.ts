import { script } from "../generated/locked-window/locked-write.ts";
import type { Operation } from "../store/contract.ts";
import { refusal } from "../store/refusal.ts";
import { columnsOf, isMark, type Mark, setColumns } from "./locked-columns.ts";

export interface LockedWrite {
  mark: Mark;
  times: Uint8Array;
  values: Uint8Array;
  spanMs: number;
}

/** Writes a locked window back if its mark is unchanged. lua/locked-window/locked-write.lua states the law. */
export const lockedWrite: Operation<LockedWrite, void> = {
  name: "locked-window/locked-write",
  script,
  arity: 5,
  keyCount: 1,
  repeatable: true,
  encode: ({ mark, times, values, spanMs }) => [mark.fence, mark.nonce, times, values, spanMs],
  decode: () => undefined,
  local(keys, key, { mark, times, values, spanMs }, nowMs) {
    const last = columnsOf(keys, key)?.mark;
    if (!isMark(last, mark))
      throw refusal("STALE", "the window was read or deleted by another since: nothing was written");
    setColumns(keys, key, { times, values, mark }, nowMs + 2 * spanMs);
  },
};
