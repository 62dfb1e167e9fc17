import { onAbort } from "../../../base/async/aborts.ts";
import { deferred } from "../../../base/async/deferred.ts";
import { endsWithRequest } from "../../../base/async/of-request.ts";
import { timerMs } from "../../../base/async/timers.ts";
import type { Site } from "../../../base/site.ts";
import type { Clock } from "../../../base/time.ts";
import { HeldLock, StoreHold } from "../../../holds/held.ts";
import { forget, look } from "../../../holds/steps/steps.ts";
import { takeHold } from "../../../holds/waiters.ts";
import type { Store } from "../../../store/contract.ts";
import type { Decision } from "../decision.ts";
import { isStoreFailure } from "./store-failure.ts";

/** The caller whose turn it is asks this often at first, and at the end. Permits may come back at any time. */
const FIRST_POLL_MS = 20;
const MAX_POLL_MS = 100;
/** The turn of a dead process ends after this time. */
const LEASE_MS = 5000;

/** A call of `acquire` on a limiter that lends permits. */
export interface Acquisition {
  readonly at: Site;
  readonly store: Store;
  /** The key of the queue. */
  readonly key: string;
  /** By the store's monotonic clock. */
  readonly untilMs: number;
  readonly signal: AbortSignal | undefined;
  ask(): Promise<Decision>;
  peek(): Promise<Decision>;
}

/**
 * Waits for lent permits of an id, in order of arrival over all processes. A caller that finds nobody waiting asks at once. The
 * others queue for the turn, which is a hold of the id. Only the caller that has it asks, again and again, until it passes.
 * So a newcomer takes no permit that comes back while others wait. If the store fails, each caller asks for itself.
 */
export async function acquireInTurn(call: Acquisition): Promise<Decision> {
  const { at, store, key, untilMs, signal, ask, peek } = call;
  signal?.throwIfAborted();
  const isBusy = await unlessStoreFails(hasTurn(store, key));
  const first = await (isBusy ? peek() : ask());
  if (first.allowed && !isBusy) return first;
  const waitMs = Math.max(0, untilMs - store.monotonic());
  if (!isBusy && waitMs === 0) return first;
  if (first.retryAfterMs === Number.POSITIVE_INFINITY) return isBusy ? refused(first, ask) : first;
  // A call that does not wait asks for the turn too, since those before it may have died.
  const request = { permits: 1, limit: 1, leaseMs: LEASE_MS, waitMs, signal, replicas: 0 };
  const turn = await unlessStoreFails(takeHold(store, key, request));
  if (turn === undefined) return ask();
  if (turn === null) return refused(waitMs > 0 ? await peek() : first, ask);
  const held = new HeldLock(new StoreHold(turn, turn.number, `the turn "${key}"`), true, at);
  try {
    return await poll(call);
  } finally {
    // Whatever happens to the queue, a permit that was taken reaches its caller. A turn that is not passed on ends with its lease.
    await held.release().then(
      () => forgetTurns(store, key),
      () => {},
    );
  }
}

/** Deletes the queue of an id if nobody waits, or if it is damaged. If that fails, the queue stays until it expires. */
export async function forgetTurns(store: Store, key: string): Promise<void> {
  await store.run(forget, key, undefined).catch(() => {});
}

/** Undefined if the store fails. */
function unlessStoreFails<T>(step: Promise<T>): Promise<T | undefined> {
  return step.catch((error) => {
    if (isStoreFailure(error)) return undefined;
    throw error;
  });
}

/** True if a caller has the turn of an id, or waits for it. */
async function hasTurn(store: Store, key: string): Promise<boolean> {
  const { nowMs, holds, places } = await store.run(look, key, undefined);
  return places.length > 0 || holds.some(({ endMs }) => endMs >= nowMs);
}

async function poll({ store, untilMs, signal, ask }: Acquisition): Promise<Decision> {
  for (let pollMs = FIRST_POLL_MS; ; pollMs = Math.min(2 * pollMs, MAX_POLL_MS)) {
    const decision = await ask();
    const leftMs = untilMs - store.monotonic();
    if (decision.allowed || decision.retryAfterMs === Number.POSITIVE_INFINITY || leftMs <= 0) return decision;
    await until(undefined, Math.min(decision.retryAfterMs, leftMs, pollMs), signal);
  }
}

/** The decision about a caller whose wait is over. Permits that are free belong to those that wait before it. */
function refused(seen: Decision, ask: () => Promise<Decision>): Promise<Decision> | Decision {
  if (seen.degraded) return ask();
  return { ...seen, allowed: false, granted: 0, retryAfterMs: Math.max(1, seen.retryAfterMs) };
}

/** Callers of one process that wait for permits of an id, in order of arrival. For lent permits see `acquireInTurn`. */
export class FairWaiters {
  readonly #last = new Map<string, Promise<void>>();

  /** Asks, and asks again when the decision said that the call would pass, until it passes or cannot pass in time. */
  async wait(
    keyPrefix: string,
    untilMs: number,
    now: Clock,
    signal: AbortSignal | undefined,
    ask: () => Promise<Decision>,
  ): Promise<Decision> {
    signal?.throwIfAborted();
    // In Workers an earlier caller may have ended with its request, so each asks for itself.
    const before = endsWithRequest ? undefined : this.#last.get(keyPrefix);
    const turn = deferred();
    // A caller that gives up must not let later callers pass earlier ones: its turn ends after all turns before it.
    const last = before ? before.then(() => turn.promise) : turn.promise;
    this.#last.set(keyPrefix, last);
    void last.then(() => {
      if (this.#last.get(keyPrefix) === last) this.#last.delete(keyPrefix);
    });
    try {
      if (before) await until(before, untilMs - now(), signal);
      for (;;) {
        const decision = await ask();
        if (decision.allowed || decision.retryAfterMs > untilMs - now()) return decision;
        await until(undefined, decision.retryAfterMs, signal);
      }
    } finally {
      turn.resolve();
    }
  }
}

/** Resolves when the promise settles or after `ms`. Rejects with the signal's reason when it aborts. */
function until(promise: Promise<void> | undefined, ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      ignore?.();
      reject(signal?.reason);
    };
    const end = () => {
      clearTimeout(timer);
      ignore?.();
      resolve();
    };
    const timer = setTimeout(end, timerMs(ms));
    const ignore = signal && onAbort(signal, abort);
    void promise?.then(end);
  });
}
