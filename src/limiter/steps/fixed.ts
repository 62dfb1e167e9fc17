import type { Keyspace } from "../../store/contract.ts";
import { law } from "./law.ts";
import { KIND, type Looked, type Rule, type State } from "./rule.ts";
import { keep, STATE_BYTES, stateOf, untilOf } from "./state.ts";

interface Fixed extends State {
  startMs: number;
  used: number;
}

/** Fixed window; law in lua/limiter/fixed.lua. */
export function lookFixed(keys: Keyspace, key: string, { limit, spanMs, isAligned }: Rule, nowMs: number): Looked {
  const state = stateOf<Fixed>(keys, key, KIND.fixed);
  const before = state?.startMs ?? -Infinity;
  const atMs = Math.max(nowMs, before);
  const isOpen = state !== undefined && state.used > 0 && before + spanMs > atMs;
  const firstMs = isAligned ? atMs - (atMs % spanMs) : isOpen ? before : nowMs;
  const used = state && before >= firstMs ? state.used : 0;
  const endsMs = firstMs + spanMs;
  const looked: Looked = {
    blockedUntilMs: untilOf(state?.blockedUntilMs, nowMs),
    holdsUntilMs: untilOf(state?.holdsUntilMs, nowMs),
    used,
    free: limit - used,
    waitMs: (permits) => (permits > limit ? Infinity : endsMs - nowMs),
    resetMs: () => (looked.used > 0 ? endsMs - nowMs : 0),
    put(calls, cost) {
      looked.used = Math.min(looked.used + calls * cost, law.mostLevel);
      looked.write();
    },
    back(permits) {
      looked.used = Math.max(0, looked.used - permits);
      looked.write();
    },
    write() {
      const startMs = isAligned ? Math.max(before, firstMs) : firstMs;
      keep(
        keys,
        key,
        looked,
        { kind: KIND.fixed, startMs, used: looked.used },
        looked.used > 0 ? endsMs : 0,
        nowMs,
        STATE_BYTES,
      );
    },
  };
  return looked;
}
