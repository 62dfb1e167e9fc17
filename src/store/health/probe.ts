import { within } from "../../base/async/within.ts";
import { type ScriptClient, ServerError } from "../delivery/client.ts";
import { isOutOfQuota } from "./reason.ts";

/** Errors of a server that is reachable but cannot serve calls. */
const NOT_SERVING = /^(CLUSTERDOWN|LOADING|MASTERDOWN|BUSY|MOVED|ASK)\b|Too many Cluster redirections/;

/** Whether an error is the answer of a working server, such as the refusal of a command. */
export function isAnswer(error: unknown): boolean {
  return error instanceof ServerError && !NOT_SERVING.test(error.message) && !isOutOfQuota(error);
}

interface Unanswered {
  cause: unknown;
  /** The probe was written, and its connection is still open. */
  mayBeAnswered: boolean;
}

/**
 * Waits for the connection, then asks whether `key` exists. Calls `answered` when the server answers, even after
 * `maxMs`. Never rejects. Does not keep the process alive.
 */
export async function probe(
  client: ScriptClient,
  key: string,
  maxMs: number,
  answered: () => void,
): Promise<Unanswered> {
  const untilMs = performance.now() + maxMs;
  const leftMs = () => untilMs - performance.now();
  for (let ready = client.whenReady(); ready; ready = client.whenReady()) {
    const waited = await within(ready, leftMs(), true);
    if (waited.kind === "failed") return { cause: waited.error, mayBeAnswered: false };
    // Timers may fire early. Another `whenReady` would make a client that was closed since connect again.
    if (waited.kind === "late" || leftMs() <= 0) return { cause: client.lastError, mayBeAnswered: false };
  }
  const asked = client.exists(key);
  const reply = asked.reply.then(answered, (error) => {
    if (!isAnswer(error)) throw error;
    answered();
  });
  const outcome = await within(reply, leftMs(), true);
  if (outcome.kind === "failed") return { cause: outcome.error, mayBeAnswered: false };
  const mayBeAnswered = outcome.kind === "late" && !asked.abandon;
  asked.abandon?.();
  return { cause: client.lastError, mayBeAnswered };
}
