import { atSite } from "../../base/site.ts";
import type { Decision } from "../../limits/limiter/decision.ts";
import { admission, type LimiterOptions, putHeaders } from "../admission.ts";
import { problemOf } from "../problem.ts";
import type { Taker } from "../taker.ts";
import { type NodeConnection, type NodeResponse, whenOver } from "./node-response.ts";

/**
 * The members of Fastify's request that this hook and most keys use. For more, annotate the parameter:
 * `(request: FastifyRequest) => ...`.
 */
export interface FastifyRequest {
  ip: string;
  headers: Record<string, string | string[] | undefined>;
  raw?: { socket?: NodeConnection };
}

/** The members of Fastify's reply that this hook and most answers use. */
export interface FastifyReply {
  code(status: number): FastifyReply;
  getHeader(name: string): unknown;
  header(name: string, value: string): FastifyReply;
  send(body: string | object): unknown;
  readonly sent?: boolean;
  raw: NodeResponse;
}

/** Options of `fastifyLimiter`. */
export interface FastifyLimiterOptions<Request, Reply> extends LimiterOptions<Request> {
  /** Answers a denied request, after the header fields are set. Default: the status and document of `problemOf`. */
  onDenied?: ((request: Request, reply: Reply, decision: Decision) => unknown) | undefined;
}

/**
 * Returns a Fastify hook that passes or denies each request as the limiter decides:
 * `app.addHook("onRequest", fastifyLimiter(limiter))`, or a route's `onRequest`. Use `preHandler` if the key needs data
 * that is known later. The decision is `request.rateLimit` and `decisionOf(request)`. The client's address is
 * `request.ip`, which follows Fastify's option "trustProxy". Errors go to Fastify's error handler. Throws ARGUMENT for
 * wrong options.
 */
export function fastifyLimiter<
  Request extends FastifyRequest = FastifyRequest,
  Reply extends FastifyReply = FastifyReply,
>(
  limiter: Taker,
  options: FastifyLimiterOptions<Request, Reply> = {},
): (request: NoInfer<Request>, reply: NoInfer<Reply>) => Promise<unknown> {
  return atSite("fastifyLimiter", () => {
    const addressOf = (request: Request) => request.ip;
    const admit = admission("fastifyLimiter", limiter, options, addressOf, (request) => request);
    const { onDenied = answer } = options;
    return async (request, reply) => {
      const admitted = await admit(request);
      if (admitted === undefined) return undefined;
      const { decision, headers, release } = admitted;
      Object.assign(request, { rateLimit: decision });
      if (release !== undefined) whenOver(reply.raw, request.raw?.socket, release);
      // Somebody has answered meanwhile, such as a time-out: the answer is not changed.
      if (reply.sent || reply.raw.headersSent) return decision.allowed ? undefined : reply;
      putHeaders(
        headers,
        (name) => reply.getHeader(name),
        (name, value) => reply.header(name, value),
      );
      if (decision.allowed) return undefined;
      await onDenied(request, reply, decision);
      return reply; // an async hook that answers must return the reply
    };
  });
}

function answer(_request: unknown, reply: FastifyReply, decision: Decision): void {
  const { status, contentType, body } = problemOf(decision);
  reply.code(status);
  reply.header("Content-Type", contentType);
  reply.send(body);
}
