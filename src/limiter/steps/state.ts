import { corruptError } from "../../errors.ts";
import type { Keyspace } from "../../store/contract.ts";
import type { Looked, State } from "./rule.ts";

/** What a state of some numbers takes. */
export const STATE_BYTES = 300;

/** What stands under a key, of the kind that is expected there. */
export function stateOf<T extends State>(keys: Keyspace, key: string, kind: number): T | undefined {
  const state = keys.get(key);
  if (state === undefined) return undefined;
  if (Object(state).kind !== kind) throw corruptError(key, "the state of another kind of policy");
  return state as T;
}

/** What of a block or a reservation is not over: else 0, and written as that. */
export function untilOf(untilMs: number | undefined, nowMs: number): number {
  return untilMs !== undefined && untilMs > nowMs ? untilMs : 0;
}

/** Writes a state that matters until `endsMs`; one that says nothing is not there. */
export function keep(
  keys: Keyspace,
  key: string,
  { blockedUntilMs, holdsUntilMs }: Looked,
  state: object,
  endsMs: number,
  nowMs: number,
  sizeBytes: number,
): void {
  const expireAtMs = Math.max(endsMs, blockedUntilMs, holdsUntilMs);
  if (expireAtMs > nowMs) keys.set(key, { ...state, blockedUntilMs, holdsUntilMs }, sizeBytes, expireAtMs);
  else keys.delete(key);
}
