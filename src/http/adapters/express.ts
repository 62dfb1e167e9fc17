import { atSite } from "../../base/site.ts";
import type { Decision } from "../../limits/limiter/decision.ts";
import { admission, type LimiterOptions } from "../admission.ts";
import { problemOf } from "../problem.ts";
import type { Taker } from "../taker.ts";
import { type NodeConnection, type NodeResponse, putOnNode, whenOver } from "./node-response.ts";

/** The members of Express's request that are used. Node's own request has them too. */
export interface ExpressRequest {
  ip?: string | undefined;
  socket?: NodeConnection & { remoteAddress?: string | undefined };
}

/** The members of Express's response that are used. Node's own response has them too. */
export interface ExpressResponse extends NodeResponse {
  statusCode: number;
  end(body: string): unknown;
}

/** Options of `expressLimiter`. */
export interface ExpressLimiterOptions<Request, Response> extends LimiterOptions<Request> {
  /** Answers a denied request, after the header fields are set. Default: the status and document of `problemOf`. */
  onDenied?:
    | ((request: Request, response: Response, next: (error?: unknown) => void, decision: Decision) => unknown)
    | undefined;
}

/**
 * Returns Express middleware that passes or denies each request as the limiter decides. It also works with Connect and
 * with plain Node requests. The decision is `decisionOf(request)`, and `request.rateLimit` without a
 * type. The client's address is `request.ip`, which follows Express's setting "trust proxy". Errors go to `next`. Throws
 * ARGUMENT for wrong options.
 */
export function expressLimiter<
  Request extends ExpressRequest = ExpressRequest,
  Response extends ExpressResponse = ExpressResponse,
>(
  limiter: Taker,
  options: ExpressLimiterOptions<Request, Response> = {},
): (request: Request, response: Response, next: (error?: unknown) => void) => Promise<void> {
  return atSite("expressLimiter", () => {
    const addressOf = (request: Request) => request.ip ?? request.socket?.remoteAddress;
    const admit = admission("expressLimiter", limiter, options, addressOf, (request) => request);
    const { onDenied = answer } = options;
    /** Whether the request passes. If not, it is answered, or `onDenied` has called `next`. */
    const passes = async (request: Request, response: Response, next: (error?: unknown) => void): Promise<boolean> => {
      const admitted = await admit(request);
      if (admitted === undefined) return true;
      const { decision, headers, release } = admitted;
      Object.assign(request, { rateLimit: decision });
      if (release !== undefined) whenOver(response, request.socket, release);
      if (putOnNode(response, headers) && !decision.allowed) await onDenied(request, response, next, decision);
      return decision.allowed;
    };
    return (request, response, next) =>
      passes(request, response, next).then((isAllowed) => {
        if (isAllowed) next();
      }, next);
  });
}

function answer(_request: unknown, response: ExpressResponse, _next: unknown, decision: Decision): void {
  const { status, contentType, body } = problemOf(decision);
  response.statusCode = status;
  response.setHeader("Content-Type", contentType);
  response.end(body);
}
