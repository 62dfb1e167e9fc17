import { onAbort } from "../../base/async/aborts.ts";
import { endsWithRequest } from "../../base/async/of-request.ts";
import type { OrielError } from "../../base/errors.ts";

/** The function that a breaker runs. `signal` aborts with the caller's signal and after the breaker's `timeout`. */
export type BreakerTask<T> = (signal: AbortSignal) => T | PromiseLike<T>;

/**
 * A signal for functions that take none: a new one costs ten times as much as the rest of a call. It is made with the
 * first call. In Workers each call gets its own, because there a signal belongs to the request that made it.
 */
let never: AbortSignal | undefined;

/** Runs `fn`. Rejects with the reason of the caller's signal, or with `timeoutError()` after `timeoutMs`, if that is first. */
export function runTask<T>(
  fn: BreakerTask<T>,
  given: AbortSignal | undefined,
  timeoutMs: number,
  timeoutError: () => OrielError,
): T | PromiseLike<T> {
  if (timeoutMs !== Number.POSITIVE_INFINITY) return timed(fn, given, timeoutMs, timeoutError);
  if (given) return raced(fn, given);
  if (fn.length > 0 || endsWithRequest) return fn(new AbortController().signal);
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
  const pass = () => abort.abort(given?.reason);
  if (given?.aborted) pass();
  const ignore = given && onAbort(given, pass);
  const timer = setTimeout(() => abort.abort(timeoutError()), timeoutMs);
  try {
    return await raced(fn, abort.signal);
  } finally {
    clearTimeout(timer);
    ignore?.();
  }
}

function raced<T>(fn: BreakerTask<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) return abort();
    const ignore = onAbort(signal, abort);
    const ran = new Promise<T>((ended) => ended(fn(signal)));
    ran.then(resolve, reject).finally(ignore);
  });
}
