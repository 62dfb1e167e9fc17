/** What shows that a message is claimed by just this delivery. */
export interface Receipt {
  member: string;
  deliveries: number;
}

/** What became of a message. */
export type Outcome =
  | { verb: "done" }
  | { verb: "retry"; delayMs: number; priority: number; why: string }
  | { verb: "back"; priority: number }
  | { verb: "dead"; why: string }
  /** It is no message. `id`: another one where its own cannot be given; `memberBytes`: where its member is no text. */
  | { verb: "corrupt"; why: string; id: string; memberBytes: Uint8Array | undefined };

/** What became of a message that was claimed by just this delivery. */
export type Result = Receipt & Outcome;

export interface Turn {
  layout: string;
  /** What is done comes first. */
  results: readonly Result[];
  /** For how long the ids of what is done are known, after they were added. */
  dedupeMs: number;
  /** How many messages to claim, and for how long. */
  most: number;
  visibilityMs: number;
}

/** A message that is claimed, with its receipt. */
export interface Claim extends Receipt {
  /** It was claimed before, and its time was over. */
  hasLapsed: boolean;
  /** When it was due, or lapsed; NaN: it stood where no message can. */
  sinceMs: number;
  envelope: Uint8Array;
  /** What is stored under its id names another member. */
  isForeign: boolean;
  /** The member's bytes where they may be no text. */
  memberBytes: Uint8Array | undefined;
  /** Why it last failed; empty: it has not. */
  why: string;
}

/** A message whose last delivery lapsed. */
export interface Died extends Receipt {
  why: string;
}

/** Stale: the message is not claimed by this delivery; before: nor now, but it is as the result says, brought by a call before. */
export type Fate = "kept" | "stale" | "before";

export interface Turned {
  nowMs: number;
  /** When there is something to claim next: now, where that is not known; Infinity: nothing is known of. */
  nextMs: number;
  /** For each result. */
  fates: Fate[];
  claims: Claim[];
  /** Messages that lapsed after their last delivery, and are dead now. */
  died: Died[];
}
