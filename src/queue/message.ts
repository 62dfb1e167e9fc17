import { readEnvelope } from "./envelope.ts";
import { addedAtMs, CLAIMED, DEAD, readScore } from "./layout.ts";
import type { Looked } from "./look.ts";

/** A message as it stands in its queue. */
export interface QueuedMessage<Payload = unknown> {
  id: string;
  payload: Payload;
  state: "waiting" | "claimed" | "dead";
  /** When it is due; claimed: when that lapses; dead: since when. Ms since 1970, by the server's clock. */
  atMs: number;
  addedAtMs: number;
  /** Deliveries so far, and at most. */
  attempt: number;
  attempts: number;
  priority: number;
  /** Why the last delivery failed. */
  lastError?: string;
}

export function messageOf<Payload>(id: string, { score, seq, envelope, why }: Looked): QueuedMessage<Payload> {
  const { band, ms, deliveries } = readScore(score);
  const { attempts, priority, payload } = readEnvelope(envelope);
  return {
    id,
    payload: payload as Payload,
    state: band === CLAIMED ? "claimed" : band === DEAD ? "dead" : "waiting",
    atMs: ms,
    addedAtMs: addedAtMs(seq),
    attempt: deliveries,
    attempts,
    priority,
    ...(why !== "" && { lastError: why }),
  };
}
