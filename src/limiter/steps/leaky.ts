import type { Keyspace } from "../../store/contract.ts";
import { law } from "./law.ts";
import { KIND, type Looked, type Rule, type State } from "./rule.ts";
import { keep, STATE_BYTES, stateOf, untilOf } from "./state.ts";

interface Leaky extends State {
  atMs: number;
  /** Permits times span. */
  level: number;
  spanMs: number;
}

/** Leaky bucket and GCRA; law in lua/limiter/leaky.lua. */
export function lookLeaky(keys: Keyspace, key: string, { limit, spanMs, rate }: Rule, nowMs: number): Looked {
  const state = stateOf<Leaky>(keys, key, KIND.leaky);
  const atMs = Math.max(nowMs, state?.atMs ?? nowMs);
  let before = state?.level ?? 0;
  if (state && state.spanMs !== spanMs)
    before = Math.floor(before / state.spanMs) * spanMs + Math.ceil(((before % state.spanMs) * spanMs) / state.spanMs);
  const level = state ? Math.max(0, before - (atMs - state.atMs) * rate) : 0;
  const looked: Looked = {
    blockedUntilMs: untilOf(state?.blockedUntilMs, nowMs),
    holdsUntilMs: untilOf(state?.holdsUntilMs, nowMs),
    used: level,
    free: Math.floor((limit * spanMs - level) / spanMs),
    waitMs(permits) {
      if (permits > limit) return Infinity;
      return Math.ceil((looked.used + (permits - limit) * spanMs) / rate) + atMs - nowMs;
    },
    resetMs: () => (looked.used > 0 ? Math.ceil(looked.used / rate) + atMs - nowMs : 0),
    put(calls, cost) {
      looked.used = Math.min(looked.used + calls * cost * spanMs, law.mostLevel);
      looked.write();
    },
    back(permits) {
      looked.used = Math.max(0, looked.used - permits * spanMs);
      looked.write();
    },
    write() {
      const endsMs = looked.used > 0 ? atMs + Math.ceil(looked.used / rate) : 0;
      keep(keys, key, looked, { kind: KIND.leaky, atMs, level: looked.used, spanMs }, endsMs, nowMs, STATE_BYTES);
    },
  };
  return looked;
}
