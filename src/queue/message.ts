import { base64Of } from "../base/base64.ts";
import { OrielError } from "../base/errors.ts";
import { CLAIMED, DEAD } from "../generated/layouts/queue.ts";
import { noMessage, rawOf, readEnvelope } from "./format/envelope.ts";
import { addedAtMs, envelopeOf, readScore, seqOfValue } from "./format/layout.ts";
import type { StoredMessage } from "./steps/messages.ts";

/** A message in its queue, with its current state. */
export interface QueuedMessage<Payload = unknown> {
  id: string;
  payload: Payload;
  state: "waiting" | "claimed" | "dead";
  /**
   * Waiting: when it is due. Claimed: when the claim lapses. Dead: when it died. Ms since 1970, by the server's clock.
   */
  atMs: number;
  addedAtMs: number;
  /** Deliveries so far, and the maximum. */
  attempt: number;
  attempts: number;
  priority: number;
  /** Why the last delivery failed. */
  lastError?: string;
  /**
   * Set if the stored bytes are not a message of this queue, because something else overwrote them: the reason, and the
   * bytes in base64. The payload is undefined. A worker that claims it moves it to the dead letters, where it stays
   * until it is cancelled.
   */
  corrupt?: { why: string; base64: string };
}

export function messageOf<Payload>(id: string, { score, value, why }: StoredMessage): QueuedMessage<Payload> {
  const { band, ms, deliveries } = readScore(score);
  const seq = seqOfValue(value);
  const stands = {
    id,
    state: band === CLAIMED ? "claimed" : band === DEAD ? "dead" : "waiting",
    atMs: ms,
    addedAtMs: addedAtMs(seq),
    attempt: deliveries,
    ...(why !== "" && { lastError: why }),
  } as const;
  try {
    if (Number.isNaN(seq)) throw noMessage("its seq is none");
    const { attempts, priority, payload } = readEnvelope(envelopeOf(value));
    return { ...stands, payload: payload as Payload, attempts, priority };
  } catch (error) {
    if (!(error instanceof OrielError)) throw error;
    const corrupt = { why: error.message, base64: base64Of(rawOf(value)) };
    const isTimed = Number.isFinite(score) && score >= 0;
    const place = { atMs: isTimed ? ms : 0, addedAtMs: Number.isNaN(seq) ? 0 : stands.addedAtMs };
    const attempt = isTimed ? deliveries : 0;
    return { ...stands, ...place, payload: undefined as Payload, attempt, attempts: attempt, priority: 0, corrupt };
  }
}
