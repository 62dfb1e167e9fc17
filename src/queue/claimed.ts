import { argumentError } from "../errors.ts";
import { pauseMs } from "./backoff.ts";
import { type Envelope, readEnvelope } from "./envelope.ts";
import type { Claim, Outcome } from "./exchange.ts";
import { addedAtMs, idOf, seqOf } from "./layout.ts";

/** A message that is claimed, and what shows that it is by us. */
export interface ClaimedMessage<Payload = unknown> {
  id: string;
  payload: Payload;
  /** Which delivery this is, and how many there are at most. */
  attempt: number;
  attempts: number;
  priority: number;
  addedAtMs: number;
  /** When it was due (a message that lapsed: when it did), by the server's clock. */
  dueAtMs: number;
  /** It was claimed before, and neither acknowledged nor extended in time. */
  hasLapsed: boolean;
  /** Why the delivery before failed. */
  lastError?: string;
  receipt: { member: string; deliveries: number };
  backoff: Envelope["backoff"];
}

/** Throws ARGUMENT for what `claim` cannot have given. */
export function checkClaimed(message: ClaimedMessage): void {
  const { member, deliveries } = message?.receipt ?? {};
  if (typeof member !== "string" || !Number.isInteger(deliveries))
    throw argumentError("message", message, "a message as claim gave it");
}

const MOST_WHY = 1000;

export function claimOf<Payload>(claim: Claim): ClaimedMessage<Payload> {
  const { member, deliveries, hasLapsed, sinceMs, envelope, why } = claim;
  const { attempts, priority, backoff, payload } = readEnvelope(envelope);
  return {
    id: idOf(member),
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

/** What becomes of a message whose delivery failed. */
export function outcomeOf(
  { attempt, attempts, priority, backoff }: Omit<ClaimedMessage, "payload">,
  error: unknown,
  delayMs?: number,
  mostAttempts = attempts,
): Outcome {
  const why = whyOf(error);
  if (attempt >= Math.min(attempts, mostAttempts)) return { verb: "dead", why };
  return { verb: "retry", delayMs: delayMs ?? pauseMs(backoff, attempt), priority, why };
}

function whyOf(error: unknown): string {
  return (
    textOf(error)
      .slice(0, MOST_WHY)
      .replace(/\p{Surrogate}/gu, "") || "failed"
  );
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error ?? "failed");
  } catch {
    return "failed"; // Anything can be thrown, also what no text can be made of.
  }
}
