import { argumentError, checkKnown } from "../../base/errors.ts";
import type { CounterValues } from "./cells/cells.ts";

/** Options of `Counters.add`: how many events, and when they happened. */
export interface AddOptions {
  /** The number of events: a whole number from 1 to 2^53 - 1. Default 1. */
  count?: number | undefined;
  /** The time of the event: ms since 1970, or a Date. Default: now, by this process's clock. */
  at?: number | Date | undefined;
}

/** An event of a source that can be replayed. */
export interface CountedEvent<Dimension extends string = string> extends AddOptions {
  values: CounterValues<Dimension>;
}

const ADD_OPTIONS = ["values", "count", "at"];

/** Also checks an event, which has `values` too. */
function checkAdd(options: AddOptions): void {
  if (options === null || typeof options !== "object") checkKnown(options, ["count", "at"]);
  for (const name in options) if (!ADD_OPTIONS.includes(name)) checkKnown(options, ["count", "at"]);
}

/** Throws ARGUMENT. */
export function countOf(options: number | AddOptions | undefined): number {
  if (options !== undefined && typeof options !== "number") checkAdd(options);
  const count = typeof options === "number" ? options : (options?.count ?? 1);
  if (!Number.isSafeInteger(count) || count < 1)
    throw argumentError("count", count, "a whole number from 1 to 2^53 - 1");
  return count;
}
