import { argumentError } from "../../base/errors.ts";
import { atSite } from "../../base/site.ts";
import type { Decision } from "../../limits/limiter/decision.ts";
import { admission, type LimiterOptions } from "../admission.ts";
import type { Taker } from "../taker.ts";
import { deniedResponse, respondWith } from "./response.ts";

/** Options of `fetchLimiter`. */
export interface FetchLimiterOptions<Incoming extends Request> extends LimiterOptions<Incoming> {
  /** The client that the request counts for. A Request has no client address: use `clientKey` with the platform's. */
  key: (request: Incoming) => string | Promise<string>;
  /** The response to a denied request. The header fields are added to it. Default: that of `problemOf`. */
  onDenied?: ((request: Incoming, decision: Decision) => Response | Promise<Response>) | undefined;
}

/**
 * Returns a `fetch`-style handler (Workers, Deno, Bun, Next.js routes) that calls `handler` if the limiter allows the
 * request. Further arguments are passed on. Inside the handler, `decisionOf(request)` is the decision. Errors reject
 * the call, as the handler's own errors do. Throws ARGUMENT for wrong options and without `key`.
 */
export function fetchLimiter<Incoming extends Request, Rest extends unknown[]>(
  limiter: Taker,
  handler: (request: Incoming, ...rest: Rest) => Response | Promise<Response>,
  options: FetchLimiterOptions<Incoming>,
): (request: Incoming, ...rest: Rest) => Promise<Response> {
  return atSite("fetchLimiter", () => {
    if (typeof handler !== "function") throw argumentError("handler", handler, "a function of a Request");
    if (typeof options?.key !== "function") throw argumentError("key", options?.key, "a function of the Request");
    const admit = admission<Incoming>(
      "fetchLimiter",
      limiter,
      options,
      () => undefined,
      (request) => request,
    );
    const { onDenied = (_request, decision) => deniedResponse(decision) } = options;
    return async (request, ...rest) => {
      const admitted = await admit(request);
      if (admitted === undefined) return handler(request, ...rest);
      const { decision } = admitted;
      return respondWith(request, rest[0], admitted, () =>
        decision.allowed ? handler(request, ...rest) : onDenied(request, decision),
      );
    };
  });
}
