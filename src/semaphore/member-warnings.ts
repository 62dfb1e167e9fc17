import { OrielError } from "../errors.ts";
import type { Store } from "../store/contract.ts";
import { warn } from "../warn.ts";

const QUIET_MS = 60_000;

const warnedAtMs = new WeakMap<Store, number>();

/**
 * Warns that one of several servers fails, at most once a minute for each. No call rejects while the majority answers, so
 * the failure would stay unknown until another server fails too.
 */
export function warnOfMember(store: Store, error: unknown): void {
  const nowMs = store.monotonic();
  if (nowMs - (warnedAtMs.get(store) ?? Number.NEGATIVE_INFINITY) < QUIET_MS) return;
  warnedAtMs.set(store, nowMs);
  const place = store.address === undefined ? "" : ` (redis at ${store.address})`;
  const [text, code] = error instanceof OrielError ? [OrielError.detailOf(error), error.code] : [`${error}`, "CORRUPT"];
  warn(`one of several servers fails, and locks continue without it: ${text}${place}`, code);
}
