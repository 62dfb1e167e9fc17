import { isEdgeRuntime } from "./edge-runtime.ts";
import { endsWithRequest } from "./of-request.ts";

/** Microtask turns after which a caller that an answer woke has usually reached its next call. */
const HOPS = 8;

/** Calls `run` once, later in this turn of the event loop. */
export type Schedule = (run: () => void) => unknown;

/**
 * Calls `run` at the end of this turn of the event loop, or in a microtask if there is no `setImmediate`. Cloudflare
 * Workers always use a microtask: a request that ends takes its timers with it, and so the calls of other requests in
 * the batch.
 */
export const atTurnsEnd: Schedule =
  typeof setImmediate === "function" && !endsWithRequest && !isEdgeRuntime ? setImmediate : queueMicrotask;

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
