import { corruptError } from "../../base/errors.ts";
import { WINDOW_BYTES, WINDOW_NOW_MS_AT, WINDOW_TIMES_BYTES_AT } from "../../generated/layouts/locked-window.ts";
import { lockedReadScript, lockedWriteScript } from "../../generated/scripts/locked-window.ts";
import type { Keyspace, Operation } from "../../store/contract.ts";
import { ARRAY_BYTES } from "../../store/memory/heap-bytes.ts";
import { refusal } from "../../store/refusal.ts";

const COLUMNS_BYTES = 2 * ARRAY_BYTES + 128;

/** The value of a locked window's key in a memory store. */
interface StoredColumns {
  times: Uint8Array;
  values: Uint8Array;
  mark: Mark | undefined;
}

/** Identifies the hold of the lock that read the window last. */
export interface Mark {
  /** 0 if the lock has no fences. */
  fence: number;
  /** 0 for a read without the lock, which leaves no mark. */
  nonce: number;
}

function columnsOf(keys: Keyspace, key: string): StoredColumns | undefined {
  const columns = keys.get(key) as StoredColumns | undefined;
  // Check the types: an array also has a member `values`, a function.
  if (columns !== undefined && !(columns?.times instanceof Uint8Array && columns.values instanceof Uint8Array))
    throw corruptError(key, "its value is not a locked window");
  return columns;
}

function setColumns(keys: Keyspace, key: string, columns: StoredColumns, expireAtMs: number): void {
  keys.set(key, columns, columns.times.length + columns.values.length + COLUMNS_BYTES, expireAtMs);
}

function isMark(mark: Mark | undefined, { fence, nonce }: Mark): boolean {
  return mark !== undefined && mark.fence === fence && mark.nonce === nonce;
}

export interface ReadRequest {
  mark: Mark;
  maxBytes: number;
  spanMs: number;
}

/** The window as it is stored. The arrays are views of the reply's bytes. */
export interface StoredWindow {
  nowMs: number;
  times: Uint8Array;
  values: Uint8Array;
}

/** Reads a locked window and stores the hold's mark. lua/locked-window/locked-read.lua states the law. */
export const readWindow: Operation<ReadRequest, StoredWindow> = {
  name: "locked-window/locked-read",
  script: lockedReadScript,
  arity: 4,
  keyCount: 1,
  repeatable: true,
  encode: ({ mark, maxBytes, spanMs }) => [mark.fence, mark.nonce, maxBytes, spanMs],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset, reply.byteLength);
    const valuesAt = WINDOW_BYTES + view.getUint32(WINDOW_TIMES_BYTES_AT, true);
    return {
      nowMs: view.getFloat64(WINDOW_NOW_MS_AT, true),
      times: reply.subarray(WINDOW_BYTES, valuesAt),
      values: reply.subarray(valuesAt),
    };
  },
  local(keys, key, { mark, maxBytes, spanMs }, nowMs) {
    const columns = columnsOf(keys, key);
    const times = columns?.times ?? new Uint8Array(0);
    const values = columns?.values ?? new Uint8Array(0);
    const bytes = times.length + values.length;
    if (bytes > maxBytes) throw refusal("TOO_LARGE", `the window takes ${bytes} bytes, of at most ${maxBytes}`);
    if (mark.nonce > 0) {
      const last = columns?.mark;
      if (last && mark.fence > 0 && (last.fence > mark.fence || (last.fence === mark.fence && !isMark(last, mark))))
        throw refusal("STALE", "another holder has the window's lock now");
      setColumns(keys, key, { times, values, mark }, nowMs + 2 * spanMs);
    }
    return { nowMs, times, values };
  },
};

export interface WriteRequest {
  mark: Mark;
  times: Uint8Array;
  values: Uint8Array;
  spanMs: number;
}

/** Writes a locked window back if its mark is unchanged. lua/locked-window/locked-write.lua states the law. */
export const writeWindow: Operation<WriteRequest, void> = {
  name: "locked-window/locked-write",
  script: lockedWriteScript,
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
