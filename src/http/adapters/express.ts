import type { Decision } from "../../limiter/decision.ts";
import { placed } from "../../place.ts";
import { admission, type LimiterOptions, putHeaders } from "../admission.ts";
import { problemOf } from "../problem.ts";
import type { Taker } from "../taker.ts";
import { type NodeConnection, type NodeResponse, whenOver } from "./response-end.ts";

/** What is used of Express's request; Node's own will do. */
export interface ExpressRequest {
  ip?: string | undefined;
  socket?: NodeConnection & { remoteAddress?: string | undefined };
}

/** What is used of Express's response: Node's own. */
export interface ExpressResponse extends NodeResponse {
  statusCode: number;
  getHeader(name: string): unknown;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
}

export interface ExpressLimiterOptions<Request, Response> extends LimiterOptions<Request> {
  /** Answers a denied request; the header fields are set. Default: `problemOf`'s status and document. */
  onDenied?:
    | ((request: Request, response: Response, next: (error?: unknown) => void, decision: Decision) => unknown)
    | undefined;
}

/**
 * Express middleware (Connect's and plain Node's requests will do) that lets a request pass as the limiter decides.
 * The decision is `request.rateLimit`, and `decisionOf(request)`. The client's address is `request.ip`, thus what
 * Express's "trust proxy" says. An error goes to `next`. Throws ARGUMENT for options that are wrong.
 */
export function expressLimiter<
  Request extends ExpressRequest = ExpressRequest,
  Response extends ExpressResponse = ExpressResponse,
>(
  limiter: Taker,
  options: ExpressLimiterOptions<Request, Response> = {},
): (request: Request, response: Response, next: (error?: unknown) => void) => Promise<void> {
  return placed("expressLimiter", () => {
    const addressOf = (request: Request) => request.ip ?? request.socket?.remoteAddress;
    const admit = admission("expressLimiter", limiter, options, addressOf, (request) => request);
    const { onDenied = answer } = options;
    /** Whether the request goes on; else it was answered, or handed to `next` by onDenied. */
    const passes = async (request: Request, response: Response, next: (error?: unknown) => void): Promise<boolean> => {
      const admitted = await admit(request);
      if (admitted === undefined) return true;
      const { decision, headers, release } = admitted;
      Object.assign(request, { rateLimit: decision });
      if (release !== undefined) whenOver(response, request.socket, release);
      putHeaders(
        headers,
        (name) => response.getHeader(name),
        (name, value) => response.setHeader(name, value),
      );
      if (!decision.allowed) await onDenied(request, response, next, decision);
      return decision.allowed;
    };
    return (request, response, next) =>
      passes(request, response, next).then((goesOn) => {
        if (goesOn) next();
      }, next);
  });
}

function answer(_request: unknown, response: ExpressResponse, _next: unknown, decision: Decision): void {
  const { status, contentType, body } = problemOf(decision);
  response.statusCode = status;
  response.setHeader("Content-Type", contentType);
  response.end(body);
}
