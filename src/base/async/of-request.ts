const { navigator } = globalThis as { navigator?: { userAgent?: string } };

/**
 * True in Cloudflare Workers. There a timer, a fetch and a promise belong to the request that made them. When the
 * request ends, or its client disconnects, they never settle. A request that awaits nothing of its own is cancelled at
 * once. So no request may wait for work that another request began.
 */
export const endsWithRequest: boolean = navigator?.userAgent === "Cloudflare-Workers";

/**
 * A call should give up after `deadlineMs`. One that has not after this time, in ms, has ended with its request and is
 * no longer counted.
 */
export function lostAfterMs(deadlineMs: number): number {
  return 2 * deadlineMs;
}
