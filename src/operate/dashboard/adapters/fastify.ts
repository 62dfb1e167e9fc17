import { type NodeRequest, type NodeResponse, nodeHandler } from "./node.ts";

/** The members of Fastify's instance that are used. */
export interface FastifyInstance {
  all(path: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<void>): unknown;
}

/** The part of Fastify's request that the dashboard uses. */
export interface FastifyRequest {
  readonly raw: NodeRequest;
}

/** The part of Fastify's reply that the dashboard uses. */
export interface FastifyReply {
  readonly raw: NodeResponse;
  /** Leaves the answer to the handler. */
  hijack(): unknown;
}

/** A plugin of Fastify that answers below its prefix. */
export function fastifyPlugin(fetch: (request: Request) => Promise<Response>) {
  const handle = nodeHandler(fetch);
  return (instance: FastifyInstance, _options: unknown, done: () => void): void => {
    const answer = async ({ raw }: FastifyRequest, reply: FastifyReply) => {
      reply.hijack();
      await handle(raw, reply.raw);
    };
    instance.all("/", answer);
    instance.all("/*", answer);
    done();
  };
}
