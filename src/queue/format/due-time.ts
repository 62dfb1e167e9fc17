import { clampMs } from "./layout.ts";

/** When a message is due: ms since 1970, or ms from now by the server's clock. The form that steps take. */
export type DueTime = { atMs: number } | { delayMs: number };

export function dueTimeText(when: DueTime): string {
  return "atMs" in when ? `${when.atMs}` : `+${when.delayMs}`;
}

export function dueMs(when: DueTime, nowMs: number): number {
  return clampMs("atMs" in when ? when.atMs : nowMs + when.delayMs);
}
