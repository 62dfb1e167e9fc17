import { OrielError } from "../../../base/errors.ts";

/** Bytes of the rows of all shards of a counter that wait for an answer. */
export interface Pending {
  bytes: number;
}

export const MAX_PENDING_BYTES = 64 << 20;

export function overloaded(bytes: number): OrielError {
  return new OrielError("OVERLOADED", `${bytes} bytes of rows wait for the store; the bound is ${MAX_PENDING_BYTES}`, {
    transient: true,
  });
}
