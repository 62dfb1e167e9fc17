import { corruptError } from "../errors.ts";
import type { Keyspace } from "../store/contract.ts";
import { ARRAY_BYTES } from "../store/memory/heap-bytes.ts";

const COLUMNS_BYTES = 2 * ARRAY_BYTES + 128;

/** The value of a locked window's key in a memory store. */
export interface LockedColumns {
  times: Uint8Array;
  values: Uint8Array;
  mark: Mark | undefined;
}

/** Identifies the hold of the lock that read the window last. */
export interface Mark {
  /** 0 for a read without the lock, which leaves no mark. */
  fence: number;
  nonce: number;
}

export function columnsOf(keys: Keyspace, key: string): LockedColumns | undefined {
  const columns = keys.get(key) as LockedColumns | undefined;
  // Check the types: an array also has a member `values`, a function.
  if (columns !== undefined && !(columns?.times instanceof Uint8Array && columns.values instanceof Uint8Array))
    throw corruptError(key, "it holds no columns of a locked window");
  return columns;
}

export function setColumns(keys: Keyspace, key: string, columns: LockedColumns, expireAtMs: number): void {
  keys.set(key, columns, columns.times.length + columns.values.length + COLUMNS_BYTES, expireAtMs);
}

export function isMark(mark: Mark | undefined, { fence, nonce }: Mark): boolean {
  return mark !== undefined && mark.fence === fence && mark.nonce === nonce;
}
