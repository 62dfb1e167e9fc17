/** Proves that this delivery holds the claim of a message. */
interface Receipt {
  member: string;
  deliveries: number;
}

/** The outcome of a delivery. */
export type Outcome =
  | { verb: "done" }
  | { verb: "retry"; delayMs: number; priority: number; why: string }
  | { verb: "release"; priority: number }
  /** The message comes again, as if it had just been added. `sizeBytes`: of its envelope, which the step copies. */
  | { verb: "again"; delayMs: number; priority: number; sizeBytes: number }
  | { verb: "dead"; why: string }
  /**
   * The bytes are not a message. `id`: another id if its own is unusable. `memberBytes`: set if its member is not text.
   */
  | { verb: "corrupt"; why: string; id: string; memberBytes: Uint8Array | undefined };

/** The outcome of a delivery, with the receipt of its claim. */
export type Settlement = Receipt & Outcome;

export interface SettleAndClaimRequest {
  layout: string;
  /** Results of done messages come first. */
  settlements: readonly Settlement[];
  /** How long the ids of done messages are known, counted from when they were added. */
  dedupeMs: number;
  /** Maximum messages to claim, and for how long. */
  limit: number;
  visibilityMs: number;
}

/** A claimed message, with its receipt. */
export interface Claim extends Receipt {
  /** An earlier claim of it lapsed. */
  hasLapsed: boolean;
  /** When it was due, or when its claim lapsed. NaN if it had a score that no step writes. */
  sinceMs: number;
  envelope: Uint8Array;
  /** The value stored under its id names another member. */
  isForeign: boolean;
  /** The member's bytes, if they may not be text. */
  memberBytes: Uint8Array | undefined;
  /** Why its last delivery failed; empty if none did. */
  why: string;
}

/** A message whose last delivery lapsed. */
export interface ExhaustedMessage extends Receipt {
  why: string;
}

/**
 * "settled": stored. "stale": this delivery does not hold the message. "repeated": it does not hold it either, but the
 * message is in the state of this result, which an earlier call delivered.
 */
export type SettleStatus = "settled" | "stale" | "repeated";

export interface SettleAndClaimResult {
  nowMs: number;
  /** When the next message can be claimed. Now if unknown; Infinity if there is none. */
  nextMs: number;
  /** One for each result. */
  statuses: SettleStatus[];
  claims: Claim[];
  /** Messages whose last delivery lapsed; they are dead now. */
  exhausted: ExhaustedMessage[];
}
