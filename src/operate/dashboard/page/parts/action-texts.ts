import type { AuditEntry } from "../../protocol.ts";
import { counted } from "../format.ts";
import { quoted } from "./quoted.ts";

/** A sentence for each action that was done. The server names its effect. */
const DONE: Record<string, (changed: string) => string> = {
  redrive: (id) => `The dead message ${quoted(id)} is due now.`,
  redriveAll: (changed) => {
    const count = Number.parseInt(changed, 10);
    return `${counted(count, "dead message")} ${count === 1 ? "is" : "are"} due now.`;
  },
  cancel: (id) => `The message ${quoted(id)} was removed.`,
  pause: () => "The queue is paused. Workers claim no message.",
  resume: () => "The queue goes on. Workers claim messages again.",
  reset: (id) => `The counts, block and reservations of ${quoted(id)} were deleted.`,
  block: (id) => `Every call of ${quoted(id)} is denied.`,
  open: () => "The circuit is open for one cooldown.",
  close: () => "The circuit is closed, with an empty window.",
  release: (hold) => `The lock was released. It was ${hold}.`,
  rebase: (changed) => `The shards continue from their table: ${changed}.`,
};

/** `target` is what the operator chose, `changed` what the server says. */
export function doneText(action: string, target: string, changed: string): string {
  const text = DONE[action];
  const named = ["redrive", "cancel", "reset", "block"].includes(action) ? target : changed;
  return text ? text(named) : `The action ${action} was done: ${quoted(changed)}.`;
}

/** "redriveAll" as "redrive all". */
export function actionWords({ action }: Pick<AuditEntry, "action">): string {
  return action.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}
