import {
  ASK_REPLY_AS_OF_MS_AT,
  ASK_REPLY_BYTES,
  ASK_REPLY_NOW_MS_AT,
  ASK_REPLY_STATUS_AT,
  ASK_REPLY_WANTED_MS_AT,
  ASKED,
  CLAIM_MS,
  LONGEST_KEEP_MS,
  SHARED_BYTES,
} from "../../../generated/layouts/series.ts";
import { askScript } from "../../../generated/scripts/series.ts";
import type { Keyspace, Operation } from "../../../store/contract.ts";
import { ARRAY_BYTES } from "../../../store/memory/heap-bytes.ts";

export interface Ask {
  maxAgeMs: number;
  /** The asking process. */
  id: number;
  /** Only the process of the last answer renews it, and only if others have asked for it since. */
  isRenewal: boolean;
}

export interface Asked {
  status: (typeof ASKED)[keyof typeof ASKED];
  /** Of the server. */
  nowMs: number;
  /** The answer has all events that were acknowledged before. */
  asOfMs: number;
  /** With a claim: the maximum age that is wanted. */
  wantedMs: number;
  /** The answer if it is fresh; else empty. */
  answer: Uint8Array;
}

/** The state of one question, as in SHARED (layouts/series.mjs), and its last answer. */
export interface SharedAnswer {
  publisher: number;
  claimant: number;
  asOfMs: number;
  claimEndMs: number;
  wantedMs: number;
  expiresMs: number;
  answer: Uint8Array;
}

const NONE: SharedAnswer = {
  publisher: 0,
  claimant: 0,
  asOfMs: 0,
  claimEndMs: 0,
  wantedMs: 0,
  expiresMs: 0,
  answer: new Uint8Array(),
};

/** Asks for a shared answer, or takes the claim to compute it; law in lua/series/ask.lua. */
export const ask: Operation<Ask, Asked> = {
  name: "series/ask",
  script: askScript,
  keyCount: 1,
  arity: 3,
  repeatable: true,
  encode: ({ maxAgeMs, id, isRenewal }) => [maxAgeMs, id, isRenewal ? 1 : 0],
  decode(reply) {
    const view = new DataView(reply.buffer, reply.byteOffset);
    return {
      status: view.getUint32(ASK_REPLY_STATUS_AT, true) as Asked["status"],
      nowMs: view.getFloat64(ASK_REPLY_NOW_MS_AT, true),
      asOfMs: view.getFloat64(ASK_REPLY_AS_OF_MS_AT, true),
      wantedMs: view.getFloat64(ASK_REPLY_WANTED_MS_AT, true),
      answer: new Uint8Array(reply.subarray(ASK_REPLY_BYTES)),
    };
  },
  local(keys, key, { maxAgeMs, id, isRenewal }, nowMs) {
    const shared = sharedAt(keys, key);
    const { publisher, claimant, asOfMs, claimEndMs, wantedMs, answer } = shared;
    const reply = (status: Asked["status"], wantedMs = 0, bytes = NONE.answer) => ({
      status,
      nowMs,
      asOfMs,
      wantedMs,
      answer: bytes,
    });
    const isClaimed = claimant !== id && claimEndMs > nowMs && claimEndMs <= nowMs + CLAIM_MS;
    let ageMs = maxAgeMs;
    if (isRenewal) {
      if (publisher !== id || isClaimed || wantedMs === 0) return reply(ASKED.stop);
      ageMs = wantedMs;
    } else if (answer.length > 0 && asOfMs <= nowMs && nowMs - asOfMs < maxAgeMs) {
      if (publisher !== id && (wantedMs === 0 || maxAgeMs < wantedMs))
        storeShared(keys, key, { ...shared, wantedMs: maxAgeMs }, nowMs, maxAgeMs);
      return reply(ASKED.fresh, 0, answer);
    } else if (isClaimed) return reply(ASKED.wait);
    const claimed = { ...shared, claimant: id, claimEndMs: nowMs + Math.min(ageMs / 2, CLAIM_MS) };
    storeShared(keys, key, claimed, nowMs, ageMs);
    return reply(ASKED.claimed, ageMs);
  },
};

export function sharedAt(keys: Keyspace, key: string): SharedAnswer {
  return (keys.get(key) as SharedAnswer | undefined) ?? NONE;
}

/** The key outlives the answer, so that processes that allow for a greater age find it. */
export function storeShared(keys: Keyspace, key: string, shared: SharedAnswer, nowMs: number, maxAgeMs: number): void {
  let expiresMs = Math.floor(nowMs + Math.min(2 * maxAgeMs, LONGEST_KEEP_MS) + 1);
  // A later time than any answer is kept for is of a clock that was set back since.
  if (shared.expiresMs <= nowMs + LONGEST_KEEP_MS + 1) expiresMs = Math.max(expiresMs, shared.expiresMs);
  const sizeBytes = SHARED_BYTES + ARRAY_BYTES + shared.answer.length;
  keys.set(key, { ...shared, expiresMs }, sizeBytes, expiresMs);
}
