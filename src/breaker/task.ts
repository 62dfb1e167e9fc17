import type { OrielError } from "../errors.ts";

/** What a breaker runs. `signal` aborts with the caller's, and when the call's time is up. */
export type BreakerTask<T> = (signal: AbortSignal) => T | PromiseLike<T>;

/**
 * For functions that take no signal: making one costs ten times as much as the rest of a call. Made with the first call, and
 * in Workers for each: there a signal belongs to the request that made it, and no other may use it.
 */
let never: AbortSignal | undefined;
const { navigator } = globalThis as { navigator?: { userAgent?: string } };
const areSignalsOfRequests = navigator?.userAgent === "Cloudflare-Workers";

/** What `fn` gives; rejects with the reason of the caller's signal, or, after `timeoutMs`, with an error, where that comes first. */
export function runTask<T>(
  fn: BreakerTask<T>,
  given: AbortSignal | undefined,
  timeoutMs: number,
  timeoutError: () => OrielError,
): T | PromiseLike<T> {
  if (timeoutMs !== Infinity) return timed(fn, given, timeoutMs, timeoutError);
  if (given) return raced(fn, given);
  if (fn.length > 0 || areSignalsOfRequests) return fn(new AbortController().signal);
  never ??= new AbortController().signal;
  return fn(never);
}

async function timed<T>(
  fn: BreakerTask<T>,
  given: AbortSignal | undefined,
  timeoutMs: number,
  timeoutError: () => OrielError,
): Promise<T> {
  const abort = new AbortController();
  const onAbort = () => abort.abort(given?.reason);
  if (given?.aborted) onAbort();
  given?.addEventListener("abort", onAbort, { once: true });
  const timer = setTimeout(() => abort.abort(timeoutError()), timeoutMs);
  try {
    return await raced(fn, abort.signal);
  } finally {
    clearTimeout(timer);
    given?.removeEventListener("abort", onAbort);
  }
}

function raced<T>(fn: BreakerTask<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    const ran = new Promise<T>((ended) => ended(fn(signal)));
    ran.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
