import { isEdgeRuntime } from "./edge-runtime.ts";
import { endsWithRequest } from "./of-request.ts";

/** Microtask turns after which a caller that an answer woke has usually reached its next call. */
const HOPS = 8;

/**
 * Calls `run` once, later in this turn of the event loop. Returns the runtime's function that it used, if it used one. A
 * test may replace that by a fake, which never calls `run`.
 */
export type Schedule = (run: () => void) => unknown;

/** Calls `run` in a microtask. */
export const inMicrotask: Schedule = (run) => {
  queueMicrotask(run);
  return queueMicrotask;
};

/**
 * Calls `run` at the end of this turn of the event loop, or in a microtask if there is no `setImmediate`. Cloudflare
 * Workers always use a microtask: a request that ends takes its timers with it, and so the calls of other requests in
 * the batch.
 */
export const atTurnsEnd: Schedule = (run) => {
  if (typeof setImmediate !== "function" || endsWithRequest || isEdgeRuntime) return inMicrotask(run);
  setImmediate(run);
  return setImmediate;
};

/** Whether the runtime's function that a schedule used has been replaced since, as fake timers and their end do. */
export function isReplaced(used: unknown): boolean {
  const runtime = globalThis as { process?: { nextTick?: unknown }; setImmediate?: unknown };
  return (
    typeof used === "function" &&
    used !== queueMicrotask &&
    used !== runtime.setImmediate &&
    used !== runtime.process?.nextTick
  );
}

let turn: Promise<void> | undefined;

/**
 * Waits for some microtask turns, shared by all callers that wait at the same time. The next calls of all callers that
 * one reply woke are then made, and travel together.
 */
export function gathering(): Promise<void> {
  turn ??= hops();
  return turn;
}

/** Calls `run` when the callers that wait now have gathered. */
export const afterGathering: Schedule = (run) => gathering().then(run);

async function hops(): Promise<void> {
  for (let hop = 0; hop < HOPS; hop++) await undefined;
  turn = undefined;
}
