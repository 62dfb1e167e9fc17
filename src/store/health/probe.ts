import { within } from "../../async/within.ts";
import { type ScriptClient, ServerError } from "../delivery/client.ts";

/** What a server says that is there and cannot serve anybody. */
const NOT_SERVING = /^(CLUSTERDOWN|LOADING|MASTERDOWN|BUSY|MOVED|ASK)\b|Too many Cluster redirections/;

/** Whether a failure is an answer of a server that does its work: of one that refuses a command, too. */
export function isAnswer(error: unknown): boolean {
  return error instanceof ServerError && !NOT_SERVING.test(error.message);
}

interface Unanswered {
  cause: unknown;
  /** It was written, and its connection still stands. */
  mayBeAnswered: boolean;
}

/**
 * Waits for the connection, then asks whether `key` exists: `answered` is called when the server answers, be it later than
 * within `longestMs`. Never rejects; keeps no process alive.
 */
export async function probe(
  client: ScriptClient,
  key: string,
  longestMs: number,
  answered: () => void,
): Promise<Unanswered> {
  const untilMs = performance.now() + longestMs;
  const leftMs = () => untilMs - performance.now();
  for (let ready = client.whenReady(); ready; ready = client.whenReady()) {
    const waited = await within(ready, leftMs(), true);
    if (waited.kind === "failed") return { cause: waited.error, mayBeAnswered: false };
    // Timers fire a little early: asked again, a client that was closed meanwhile would connect again.
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
