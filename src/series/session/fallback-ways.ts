import type { OrielError } from "../../errors.ts";
import type { Column } from "../../kernel/contract.ts";
import type { Recorded } from "../recorded.ts";

/** What a fallback needs of its journal. */
export interface Ways {
  /** Asks the store for something small; learns its time. */
  probe(): Promise<void>;
  handIn(values: Column, times: Float64Array): Promise<Recorded>;
  /** Tells that so many events will never be in the store, and why. */
  giveUp(count: number, error: OrielError): void;
}
