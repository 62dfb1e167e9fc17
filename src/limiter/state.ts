import { OrielError } from "../errors.ts";
import type { Keyspace } from "../store/contract.ts";
import type { Looked, State } from "./rule.ts";

/** What stands under a key, of the kind that is expected there. */
export function stateOf<T extends State>(keys: Keyspace, key: string, kind: number): T | undefined {
  const state = keys.get(key) as T | undefined;
  if (state && state.kind !== kind) throw new OrielError("CORRUPT", "the state is that of another kind of policy");
  return state;
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
