import { script } from "../generated/locked-window/locked-read.ts";
import type { Operation } from "../store/contract.ts";
import { refusal } from "../store/refusal.ts";
import { columnsOf, isMark, type Mark, setColumns } from "./locked-columns.ts";

export interface LockedRead {
  mark: Mark;
  mostBytes: number;
  spanMs: number;
}

/** Views of the reply's bytes. The caller owns the reply. */
export interface LockedState {
  nowMs: number;
  times: Uint8Array;
  values: Uint8Array;
}

const HEAD_BYTES = 12;

/** Reads a locked window and stores the hold's mark. lua/locked-window/locked-read.lua states the law. */
export const lockedRead: Operation<LockedRead, LockedState> = {
  name: "locked-window/locked-read",
  script,
  arity: 4,
  keyCount: 1,
  repeatable: true,
  encode: ({ mark, mostBytes, spanMs }) => [mark.fence, mark.nonce, mostBytes, spanMs],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    const valuesAt = HEAD_BYTES + view.getUint32(8, true);
    return {
      nowMs: view.getFloat64(0, true),
      times: reply.subarray(HEAD_BYTES, valuesAt),
      values: reply.subarray(valuesAt),
    };
  },
  local(keys, key, { mark, mostBytes, spanMs }, nowMs) {
    const columns = columnsOf(keys, key);
    const times = columns?.times ?? new Uint8Array(0);
    const values = columns?.values ?? new Uint8Array(0);
    const bytes = times.length + values.length;
    if (bytes > mostBytes) throw refusal("TOO_LARGE", `the window takes ${bytes} bytes, of at most ${mostBytes}`);
    if (mark.fence > 0) {
      const last = columns?.mark;
      if (last && (last.fence > mark.fence || (last.fence === mark.fence && !isMark(last, mark))))
        throw refusal("STALE", "another holds the window's lock by now");
      setColumns(keys, key, { times, values, mark }, nowMs + 2 * spanMs);
    }
    return { nowMs, times, values };
  },
};
