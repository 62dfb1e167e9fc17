import type { JournalAnswer } from "../../journal/format/answer.ts";
import { HEADER_BYTES } from "../../journal/format/chunk.ts";
import { constants } from "../../journal/format/constants.ts";

/** The expected cost of an answer from outlines before the first one: that of 4 requests. */
const FIRST_OUTLINE_REQUESTS = 4;
/** The rate of a chunk that is younger than this is unknown. */
const MIN_CHUNK_AGE_MS = 1000;

/** Some queries that are asked together, and the part of their windows that the copy has. */
export interface Held {
  /** By the monotonic clock. */
  nowMs: number;
  /** How far back from the present the longest of their windows reaches. */
  reachMs: number;
  /** The share of that time that the copy covers, 0 to 1. */
  heldShare: number;
  /** Time since the copy was last updated. */
  ageMs: number;
}

/** How `Series.stats` would be answered, from `Series.explain`. */
export interface QueryPlanReport {
  /** The way of the next answer. */
  plan: "copy" | "outlines";
  /** The cost of the copy now: estimated bytes that it lacks, and a request. Undefined before anything was read. */
  copyBytes: number | undefined;
  /** The cost of an answer from outlines, as the last one was. */
  outlineBytes: number;
  /** The bytes that a copy would have saved until now, if it had been here. At `copyBytes` it is fetched. */
  regretBytes: number;
}

/**
 * Chooses how a process answers its next queries. A cost is the bytes that come from the store, with some for each request.
 *
 *   copy       the bytes that the copy lacks, which is all of the window without a copy. They stay here.
 *   outlines   the open chunk, and the heads and some values of sealed chunks. Nothing stays.
 *
 * Law: outlines, as long as they cost less than the copy would, and the regret stays below the cost of the copy. The regret is the
 * cost of the outlines less that of keeping a copy at the present, question by question, and never negative. So a copy that has to
 * be read anew for each question is not bought. At a purchase, outlines have cost at least its price, and at most its price more
 * than a copy. A copy that does not pay any more is brought to the present once more, which shows what a failover took, and dropped.
 * So a purchase costs its price at most three times. Whatever is asked next, the whole is at most three times the cost of the better
 * way, as far as the estimates are right.
 * (Renting or buying: Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching", 1988.)
 */
export class QueryPlan {
  #regretBytes = 0;
  #outlineBytes = FIRST_OUTLINE_REQUESTS * constants.requestBytes;
  /** Size of all chunks of the last window that was answered from outlines. */
  #windowBytes: number | undefined;
  /** Bytes that the journal grows by in a ms. */
  #bytesPerMs = 0;
  /** The cost of the outlines of the questions under way. */
  #costBytes = 0;
  /** The last window has no room in a copy. */
  #isTooLarge = false;
  #askedMs = Number.NEGATIVE_INFINITY;
  /** The farthest reach of a window before. */
  #reachMs = 0;

  /** `kinds`: different queries, each of which needs outlines of its own. */
  choose(held: Held, kinds: number): QueryPlanReport["plan"] {
    const copyBytes = this.#copyBytes(held) ?? Number.POSITIVE_INFINITY;
    const outlineBytes = kinds * this.#outlineBytes;
    if (this.#isTooLarge) return "outlines";
    const isCheaper = outlineBytes < copyBytes;
    return isCheaper && this.#regretBytes + outlineBytes - this.#keepingBytes(held) < copyBytes ? "outlines" : "copy";
  }

  /** Learns from an answer of the store how fast the journal grows. */
  see({ header, length, nowMs }: Pick<JournalAnswer, "header" | "length" | "nowMs">): void {
    const ageMs = header ? nowMs - header.createdMs : 0;
    if (ageMs >= MIN_CHUNK_AGE_MS) this.#bytesPerMs = (length - HEADER_BYTES) / ageMs;
  }

  /**
   * A query was answered from outlines. `windowBytes`: the size of all chunks of its window. `isTooLarge`: a copy of it would be
   * above `maxResidentBytes`.
   */
  spent(bytes: number, requests: number, windowBytes: number, isTooLarge: boolean): void {
    this.#isTooLarge = isTooLarge;
    this.#outlineBytes = bytes + requests * constants.requestBytes;
    this.#costBytes += this.#outlineBytes;
    this.#windowBytes = windowBytes;
  }

  /** The queries were answered from outlines, whose costs `spent` has had. */
  outlined(held: Held): void {
    this.#regretBytes = Math.max(0, this.#regretBytes + this.#costBytes - this.#keepingBytes(held));
    this.#note(held);
  }

  /** The queries were answered from the copy. */
  copied(held: Held): void {
    this.#regretBytes = 0;
    this.#note(held);
  }

  report(held: Held): QueryPlanReport {
    return {
      plan: this.choose(held, 1),
      copyBytes: this.#copyBytes(held),
      outlineBytes: this.#outlineBytes,
      regretBytes: this.#regretBytes,
    };
  }

  #note({ nowMs, reachMs }: Held): void {
    this.#costBytes = 0;
    this.#askedMs = nowMs;
    this.#reachMs = Math.max(this.#reachMs, reachMs);
  }

  #copyBytes({ reachMs, heldShare, ageMs }: Held): number | undefined {
    return heldShare === 0 && this.#windowBytes === undefined ? undefined : this.#missing(reachMs, heldShare, ageMs);
  }

  /** The cost of these queries for a process that has had the copy at the last ones. */
  #keepingBytes({ nowMs, reachMs }: Held): number {
    return this.#missing(reachMs, Math.min(1, this.#reachMs / reachMs), nowMs - this.#askedMs);
  }

  /** The cost of what a copy lacks that goes back over `share` of the window, and was at the present `ageMs` ago. */
  #missing(reachMs: number, share: number, ageMs: number): number {
    const windowBytes = this.#windowBytes ?? this.#bytesPerMs * reachMs;
    const grownBytes = share === 0 ? 0 : Math.min(this.#bytesPerMs * Math.min(ageMs, reachMs), share * windowBytes);
    return (1 - share) * windowBytes + grownBytes + constants.requestBytes;
  }
}
