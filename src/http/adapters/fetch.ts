import { argumentError } from "../../errors.ts";
import type { Decision } from "../../limiter/decision.ts";
import { placed } from "../../place.ts";
import { admission, type LimiterOptions } from "../admission.ts";
import type { Taker } from "../taker.ts";
import { deniedResponse, whenEnded, whenGone, withHeaders } from "./response.ts";

export interface FetchLimiterOptions<Incoming extends Request> extends LimiterOptions<Incoming> {
  /** Whom the call counts for: a Request does not say where it comes from. Use `clientKey` with what the platform says. */
  key: (request: Incoming) => string | Promise<string>;
  /** The response to a denied request; the header fields are added to it. Default: `problemOf`'s. */
  onDenied?: ((request: Incoming, decision: Decision) => Response | Promise<Response>) | undefined;
}

/**
 * A `fetch`-style handler (Workers, Deno, Bun, Next.js routes) before which the limiter decides; arguments behind the
 * request are passed on. Inside the handler, `decisionOf(request)` is the decision. An error rejects the call, as the
 * handler's own do. Throws ARGUMENT for options that are wrong or without `key`.
 */
export function fetchLimiter<Incoming extends Request, Rest extends unknown[]>(
  limiter: Taker,
  handler: (request: Incoming, ...rest: Rest) => Response | Promise<Response>,
  options: FetchLimiterOptions<Incoming>,
): (request: Incoming, ...rest: Rest) => Promise<Response> {
  return placed("fetchLimiter", () => {
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
      const { decision, headers, release } = admitted;
      if (release !== undefined) whenGone(request, release);
      try {
        const response = withHeaders(
          await (decision.allowed ? handler(request, ...rest) : onDenied(request, decision)),
          headers,
        );
        return release === undefined ? response : whenEnded(request, response, release);
      } catch (error) {
        release?.();
        throw error;
      }
    };
  });
}
