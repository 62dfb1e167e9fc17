import type { Store } from "../../src/store/contract.ts";

/** One call on a structure. */
export type Ask = () => Promise<unknown>;

/** A structure that is driven. */
export interface Driven {
  /** Makes every key that the structure can have. */
  seed(): Promise<void>;
  /** All that it can be asked, in the order in which it is; each must settle, whatever the one before did. */
  readonly asks: Readonly<Record<string, Ask>>;
  /** Does more with what nobody has touched, and throws where an answer is not exact. */
  check(): Promise<void>;
  /** Throws where what does not lie in `keys` (and, of a message, not under `row`) was harmed. */
  checkSpared?(keys: readonly string[], row: string | undefined): Promise<void>;
  /** Errors that it gave to listeners. */
  readonly told: unknown[];
  close(): Promise<unknown>;
}

export interface Subject {
  readonly name: string;
  /** What its errors must call it. */
  readonly called: RegExp;
  /** Every key that it has, with NAME in the place of its name, and a digit in that of a tag. */
  readonly keys: readonly RegExp[];
  /** Exported classes that it drives. */
  readonly drives: readonly string[];
  /** Keys whose names do not just hold the name (tags that spread them follow from it). */
  keysOf?(store: Store, name: string): string[];
  /** `span`: of its window; the checks of what nobody touches need one that is longer than the run. */
  open(store: Store, name: string, span?: "1m" | "1h"): Driven;
}
