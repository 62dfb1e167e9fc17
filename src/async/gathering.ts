import { endsWithRequest } from "./of-request.ts";

/** So many microtask turns bring whoever an answer wakes, through the promises of a caller's own, to its next call. */
const HOPS = 8;

/**
 * Calls `run` when this turn of the event loop is over, or soon where a runtime cannot tell, or a timer's end might not come:
 * in Workers what others have put beside a request's calls would go with it.
 */
export const atTurnsEnd: (run: () => void) => unknown =
  typeof setImmediate === "function" && !endsWithRequest ? setImmediate : queueMicrotask;

let turn: Promise<void> | undefined;

/**
 * Some microtask turns, shared by all who ask meanwhile: what callers, woken by one reply, do next is then there, and
 * goes together.
 */
export function gathering(): Promise<void> {
  turn ??= hops();
  return turn;
}

async function hops(): Promise<void> {
  for (let hop = 0; hop < HOPS; hop++) await undefined;
  turn = undefined;
}
