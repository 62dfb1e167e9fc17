import { argumentError, corruptError, OrielError, reasonText } from "../../base/errors.ts";
import { hexOf } from "../../base/hex.ts";
import { type Backoff, pauseMs } from "../backoff.ts";
import { doNotRetryOf } from "../do-not-retry.ts";
import { noMessage, readEnvelope } from "../format/envelope.ts";
import { addedAtMs, idOf, keysOfShard, seqOf } from "../format/layout.ts";
import { isId } from "../options.ts";
import type { Claim, Outcome } from "../steps/settlement.ts";

/** A claimed message, and the receipt that proves the claim. */
export interface ClaimedMessage<Payload = unknown> {
  id: string;
  payload: Payload;
  /** The number of this delivery, and the maximum. */
  attempt: number;
  attempts: number;
  priority: number;
  addedAtMs: number;
  /** When the message was due or, after a lapse, when its claim lapsed. By the server's clock. */
  dueAtMs: number;
  /** An earlier claim lapsed: it was neither acknowledged nor extended in time. */
  hasLapsed: boolean;
  /** Why the previous delivery failed. */
  lastError?: string;
  receipt: { member: string; deliveries: number };
  backoff: Backoff;
}

/** Throws ARGUMENT for a value that `claim` cannot have returned. */
export function checkClaimed(message: ClaimedMessage): void {
  const { receipt, backoff, attempt, attempts } = message ?? {};
  const numbers = [receipt?.deliveries, attempt, attempts, backoff?.firstMs, backoff?.factor, backoff?.longestMs];
  if (typeof receipt?.member !== "string" || !numbers.every(Number.isFinite))
    throw argumentError("message", message, "a message as claim gave it");
}

const MAX_WHY = 1000;
const encoder = new TextEncoder();

/** Throws CORRUPT, with the reason, if the stored bytes are not a message. */
export function claimOf<Payload>(claim: Claim): ClaimedMessage<Payload> {
  const { member, deliveries, hasLapsed, sinceMs, envelope, why } = claim;
  const id = idOf(member);
  if (claim.isForeign || Number.isNaN(seqOf(member))) throw noMessage("its seq is not that of its member");
  if (Number.isNaN(sinceMs)) throw noMessage("its score is no time of a message");
  if (claim.memberBytes && !isTextOf(member, claim.memberBytes)) throw noMessage("its id is no UTF-8");
  if (!isId(id)) throw noMessage("its id is none that a message can have");
  const { attempts, priority, backoff, payload } = readEnvelope(envelope);
  return {
    id,
    payload: payload as Payload,
    attempt: deliveries,
    attempts,
    priority,
    addedAtMs: addedAtMs(seqOf(member)),
    dueAtMs: sinceMs,
    hasLapsed,
    ...(why !== "" && { lastError: why }),
    receipt: { member, deliveries },
    backoff,
  };
}

/** The result for a claim whose bytes are not a message. */
export function corruptOutcomeOf({ member, memberBytes }: Claim, error: unknown): Outcome & { verb: "corrupt" } {
  const bytes = memberBytes ?? encoder.encode(member);
  const id = idOf(member);
  const isKept = isId(id) && (!memberBytes || isTextOf(member, memberBytes));
  return {
    verb: "corrupt",
    why: whyOf(error),
    id: isKept ? id : `corrupt-${hexOf(bytes.subarray(0, 100))}`,
    memberBytes,
  };
}

/** `key`: the shard's first. */
export function corruptMessage(key: string, id: string, cause: unknown): OrielError {
  const why = cause instanceof OrielError ? cause.message : String(cause);
  return corruptError(keysOfShard(key)[1]!, `message ${id}: ${why}`, { cause });
}

function isTextOf(text: string, bytes: Uint8Array): boolean {
  const again = encoder.encode(text);
  return again.length === bytes.length && again.every((byte, i) => byte === bytes[i]);
}

/** The result for a message whose delivery failed. */
export function outcomeOf(
  { attempt, attempts, priority, backoff }: Omit<ClaimedMessage, "payload">,
  error: unknown,
  delayMs?: number,
  maxAttempts = attempts,
): Outcome {
  const refusal = doNotRetryOf(error);
  const isWrapped = refusal !== undefined && refusal !== error;
  const why = isWrapped ? cut(`${reasonText(refusal)} (${reasonText(error)})`) : whyOf(error);
  if (refusal !== undefined || attempt >= Math.min(attempts, maxAttempts)) return { verb: "dead", why };
  return { verb: "retry", delayMs: delayMs ?? pauseMs(backoff, attempt), priority, why };
}

function whyOf(error: unknown): string {
  const isCorrupt = error instanceof OrielError && error.code === "CORRUPT";
  return cut(isCorrupt ? `CORRUPT: ${error.message}` : reasonText(error));
}

function cut(why: string): string {
  return why.slice(0, MAX_WHY).replace(/\p{Surrogate}/gu, "") || "failed";
}
