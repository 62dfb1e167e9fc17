import { pause } from "../../base/async/timers.ts";
import { within } from "../../base/async/within.ts";
import { OrielError } from "../../base/errors.ts";
import { isAnswer } from "../health/probe.ts";
import { reasonOf, withLeaf } from "../health/reason.ts";
import { CallTime } from "./call-time.ts";
import type { ScriptClient } from "./client.ts";

const PAUSE_MS = 20;

/**
 * Resolves when the server has answered a command. Rejects with UNAVAILABLE at once if waiting does not help, else if
 * there was no answer within the time that a call has.
 */
export async function serverReady(client: ScriptClient, deadlineMs: number, key: string): Promise<void> {
  const time = new CallTime(client, deadlineMs);
  for (;;) {
    const ready = time.ready();
    if (ready) {
      if (time.isOver) throw unavailable(client.lastError, `; tried for ${time.triedMs} ms`);
      const waited = await time.wait(ready);
      if (waited.kind === "failed") throw unavailable(waited.error);
      continue;
    }
    const asked = client.exists(key);
    const outcome = await within(asked.reply, time.leftMs);
    if (outcome.kind === "done") return;
    asked.abandon?.();
    const cause = outcome.kind === "failed" ? outcome.error : client.lastError;
    if (isAnswer(cause) || reasonOf(cause)?.isFinal) throw unavailable(cause);
    if (time.leftMs <= PAUSE_MS) throw unavailable(cause, `; tried for ${time.triedMs} ms`);
    await pause(PAUSE_MS);
  }
}

function unavailable(cause: unknown, tried = ""): OrielError {
  const reason = reasonOf(cause);
  const text = reason ? `${reason.text}${tried}` : withLeaf("Redis gives no answer", cause);
  return new OrielError("UNAVAILABLE", text, { cause, transient: reason?.isTransient ?? true, applied: "no" });
}
