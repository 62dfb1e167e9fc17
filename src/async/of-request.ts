import { within } from "./within.ts";

const { navigator } = globalThis as { navigator?: { userAgent?: string } };

/**
 * In Cloudflare Workers a timer, a fetch and a promise belong to the request that made them: when it ends, or its client is
 * gone, they never settle, and a request that waits for nothing of its own is cancelled at once. There no request may
 * wait for work that another one began.
 */
export const endsWithRequest: boolean = navigator?.userAgent === "Cloudflare-Workers";

/** Who gives up after `deadlineMs`, and has not after so long, has ended with its request: nothing of it is accounted any more. */
export function lostAfterMs(deadlineMs: number): number {
  return 2 * deadlineMs;
}

/** What closes waits for it so long at most, where it may never end. */
const LONGEST_END_MS = 10_000;

/** Until work has ended that never rejects, or has ended with its request. */
export async function untilEnded(work: Promise<unknown> | undefined): Promise<void> {
  await (work && endsWithRequest ? within(work, LONGEST_END_MS) : work);
}
