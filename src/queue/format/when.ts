import { inBand } from "./layout.ts";

/** When a message is due: ms since 1970, or ms from now by the server's clock. The form that steps take. */
export type When = { atMs: number } | { delayMs: number };

export function whenText(when: When): string {
  return "atMs" in when ? `${when.atMs}` : `+${when.delayMs}`;
}

export function dueMs(when: When, nowMs: number): number {
  return inBand("atMs" in when ? when.atMs : nowMs + when.delayMs);
}
