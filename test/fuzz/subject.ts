import type { Store } from "../../src/store/contract.ts";

/** One call on a structure. */
type Ask = () => Promise<unknown>;

/** A structure that is driven. */
export interface Driven {
  /** Makes every key that the structure can have. */
  seed(): Promise<void>;
  /** All its calls, in order. Each must settle, whatever the previous one did. */
  readonly asks: Readonly<Record<string, Ask>>;
  /** Continues with undamaged keys, and throws where an answer is not exact. */
  check(): Promise<void>;
  /** Throws where data outside `keys` (for a message, outside `row`) was harmed. */
  checkSpared?(keys: readonly string[], row: string | undefined): Promise<void>;
  /** Errors that it emitted to listeners. */
  readonly reported: unknown[];
  close(): Promise<unknown>;
}

export interface Subject {
  readonly name: string;
  /** The name that its errors must use. */
  readonly called: RegExp;
  /** Every key of it, with NAME in place of its name and a digit in place of a tag. */
  readonly keys: readonly RegExp[];
  /** Exported classes that it drives. */
  readonly drives: readonly string[];
  /** Keys that do not contain the name literally (tags that spread them are derived from it). */
  keysOf?(store: Store, name: string): string[];
  /**
   * `span`: its window. Checks of undamaged keys need a window longer than the run. `isDamaged`: others may seem to hold its keys
   * for ever, so its calls wait briefly.
   */
  open(store: Store, name: string, span?: "1m" | "1h", isDamaged?: boolean): Driven;
}
