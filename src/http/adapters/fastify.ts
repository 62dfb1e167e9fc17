import type { Decision } from "../../limiter/decision.ts";
import { placed } from "../../place.ts";
import { admission, type LimiterOptions, putHeaders } from "../admission.ts";
import { problemOf } from "../problem.ts";
import type { Taker } from "../taker.ts";
import { type NodeConnection, type NodeResponse, whenOver } from "./response-end.ts";

/** What is used of Fastify's request, here or by most keys; more with the type given, `(request: FastifyRequest) => ...`. */
export interface FastifyRequest {
  ip: string;
  headers: Record<string, string | string[] | undefined>;
  raw?: { socket?: NodeConnection };
}

/** What is used of Fastify's reply. */
export interface FastifyReply {
  code(status: number): unknown;
  getHeader(name: string): unknown;
  header(name: string, value: string): unknown;
  send(body: string): unknown;
  raw: NodeResponse;
}

export interface FastifyLimiterOptions<Request, Reply> extends LimiterOptions<Request> {
  /** Answers a denied request; the header fields are set. Default: `problemOf`'s status and document. */
  onDenied?: ((request: Request, reply: Reply, decision: Decision) => unknown) | undefined;
}

/**
 * A Fastify hook that lets a request pass as the limiter decides: `app.addHook("onRequest", fastifyLimiter(limiter))`,
 * or as a route's `onRequest` (`preHandler` where the key needs what is known later). The decision is
 * `request.rateLimit`, and `decisionOf(request)`. The client's address is `request.ip`, thus what Fastify's
 * "trustProxy" says. An error goes to Fastify's error handler. Throws ARGUMENT for options that are wrong.
 */
export function fastifyLimiter<
  Request extends FastifyRequest = FastifyRequest,
  Reply extends FastifyReply = FastifyReply,
>(
  limiter: Taker,
  options: FastifyLimiterOptions<Request, Reply> = {},
): (request: NoInfer<Request>, reply: NoInfer<Reply>) => Promise<unknown> {
  return placed("fastifyLimiter", () => {
    const addressOf = (request: Request) => request.ip;
    const admit = admission("fastifyLimiter", limiter, options, addressOf, (request) => request);
    const { onDenied = answer } = options;
    return async (request, reply) => {
      const admitted = await admit(request);
      if (admitted === undefined) return undefined;
      const { decision, headers, release } = admitted;
      Object.assign(request, { rateLimit: decision });
      if (release !== undefined) whenOver(reply.raw, request.raw?.socket, release);
      putHeaders(
        headers,
        (name) => reply.getHeader(name),
        (name, value) => reply.header(name, value),
      );
      if (decision.allowed) return undefined;
      await onDenied(request, reply, decision);
      return reply; // an async hook that has answered must return the reply
    };
  });
}

function answer(_request: unknown, reply: FastifyReply, decision: Decision): void {
  const { status, contentType, body } = problemOf(decision);
  reply.code(status);
  reply.header("Content-Type", contentType);
  reply.send(body);
}
