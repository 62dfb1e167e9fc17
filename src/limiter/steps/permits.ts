import type { Keyspace } from "../../store/contract.ts";
import { KIND, type Looked, type Rule, type State } from "./rule.ts";
import { keep, STATE_BYTES, stateOf, untilOf } from "./state.ts";

/** So many permits, lent under a token until they are given back or the lease is over. */
export interface Lent {
  token: string;
  expireAtMs: number;
  permits: number;
}

/** One of them, with its token. */
export const LENT_BYTES = 136;

interface Concurrency extends State {
  /** In order of expiry. */
  lent: readonly Lent[];
}

/** Concurrency; law in lua/limiter/permits.lua. */
export function lookConcurrency(keys: Keyspace, key: string, { limit, spanMs }: Rule, nowMs: number): Looked {
  const state = stateOf<Concurrency>(keys, key, KIND.concurrency);
  let lent = (state?.lent ?? []).filter(({ expireAtMs }) => expireAtMs > nowMs);
  const used = sum(lent);
  const looked: Looked = {
    blockedUntilMs: untilOf(state?.blockedUntilMs, nowMs),
    holdsUntilMs: untilOf(state?.holdsUntilMs, nowMs),
    used,
    free: limit - used,
    waitMs(permits) {
      let left = looked.used;
      for (const each of lent) {
        left -= each.permits;
        if (left + permits <= limit) return each.expireAtMs - nowMs;
      }
      return Infinity;
    },
    resetMs: () => Math.max(0, lastExpiry(lent) - nowMs),
    put(calls, cost, token) {
      if (cost === 0) return;
      const expireAtMs = nowMs + spanMs;
      const more = Array.from({ length: calls }, (_, i) => ({ token: tokenOf(token, i), expireAtMs, permits: cost }));
      lent = byExpiry([...lent, ...more]);
      looked.used += calls * cost;
      looked.write();
    },
    back() {},
    release(token) {
      const given = lent.find((each) => each.token === token);
      if (!given) return;
      lent = lent.filter((each) => each !== given);
      looked.used -= given.permits;
      looked.write();
    },
    write() {
      keep(
        keys,
        key,
        looked,
        { kind: KIND.concurrency, lent },
        lastExpiry(lent),
        nowMs,
        STATE_BYTES + LENT_BYTES * lent.length,
      );
    },
  };
  return looked;
}

/** The token of the i-th call of a group: 32 hexadecimal digits, the last eight of them its number, little-endian. */
export function tokenOf(token: string, i: number): string {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, i);
  const number = [3, 2, 1, 0].map((at) => view.getUint8(at).toString(16).padStart(2, "0"));
  // In one piece: the token it is made of is not kept.
  return [token.slice(0, 24), ...number].join("");
}

export function byExpiry(lent: readonly Lent[]): Lent[] {
  return [...lent].sort((one, other) => one.expireAtMs - other.expireAtMs);
}

function sum(lent: readonly Lent[]): number {
  return lent.reduce((total, { permits }) => total + permits, 0);
}

function lastExpiry(lent: readonly Lent[]): number {
  return lent.reduce((last, { expireAtMs }) => Math.max(last, expireAtMs), 0);
}
