import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import { expressLimiter, fastifyLimiter, fetchLimiter, honoLimiter, type Taker } from "../../src/entries/http.ts";
import type { LimiterOptions } from "../../src/http/admission.ts";

export interface Served {
  url: string;
  /** How many sockets clients hold. */
  connections(): Promise<number>;
  close(): Promise<void>;
}

/** The description of a request in every framework, with address and headers by name. */
export type AnyOptions = Pick<
  LimiterOptions<unknown>,
  "cost" | "headers" | "partitionKey" | "onError" | "ipv6Prefix"
> & {
  /** Names the header that is the key; absent: the default key. */
  keyHeader?: string;
  /** Names the header whose presence skips the limiter. */
  skipHeader?: string;
};

/** A server that says "through" to what passes; other paths end otherwise, or never. */
export type Framework = (takers: Taker[], options: AnyOptions) => Promise<Served>;

/** The options of one framework, by how it says a request's header. */
function optionsFor<Request>(options: AnyOptions, header: (request: Request, name: string) => string | undefined) {
  const { keyHeader, skipHeader, ...rest } = options;
  return {
    ...rest,
    ...(keyHeader === undefined ? {} : { key: (request: Request) => header(request, keyHeader) ?? "nobody" }),
    ...(skipHeader === undefined ? {} : { skip: (request: Request) => header(request, skipHeader) !== undefined }),
  };
}

export async function listen(listener: RequestListener): Promise<Served> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, connections: counted(server), close };
}

function counted(server: { getConnections(counted: (error: Error | null, count: number) => void): unknown }) {
  return () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
}

/** A body whose end never comes by itself. */
function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("first")) });
}

async function answers(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  if (pathname === "/long") return new Response(endless());
  if (pathname === "/empty") return new Response(null, { status: 204 });
  if (pathname === "/unchanged") return new Response(null, { status: 304 });
  if (pathname === "/throws") throw new Error("the handler fails");
  if (pathname === "/never") return new Promise(() => {});
  if (pathname === "/body") return new Response(String((await request.arrayBuffer()).byteLength));
  return new Response("through");
}

/** The same in Node; false: the framework answers. */
function answered(request: IncomingMessage, response: ServerResponse): boolean {
  const { url } = request;
  if (url === "/long") response.write("first");
  else if (url === "/empty" || url === "/unchanged") response.writeHead(url === "/empty" ? 204 : 304).end();
  else if (url === "/body")
    request
      .on("error", () => {})
      .on("end", () => response.end("read"))
      .resume();
  else if (url === "/throws") throw new Error("the handler fails");
  else return url === "/never";
  return true;
}

const withExpress: Framework = (takers, options) => {
  const app = express();
  app.set("env", "test"); // an error's response is its text; nothing is logged
  const own = optionsFor(options, (request: express.Request, name) => request.get(name));
  for (const taker of takers) app.use(expressLimiter(taker, own));
  app.use((request, response) => void (answered(request, response) || response.send("through")));
  return listen(app);
};

const withFastify: Framework = async (takers, options) => {
  const app = fastify();
  const own = optionsFor(options, (request: { ip: string; headers: NodeJS.Dict<string | string[]> }, name) =>
    request.headers[name]?.toString(),
  );
  for (const taker of takers) app.addHook("onRequest", fastifyLimiter(taker, own));
  app.addContentTypeParser("application/octet-stream", (_request, _body, done) => done(null));
  app.all("/*", (request, reply) => {
    if (answered(request.raw, reply.raw)) reply.hijack();
    else reply.send("through");
  });
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const close = async () => {
    app.server.closeAllConnections();
    await app.close();
  };
  return { url, connections: counted(app.server), close };
};

function serveFetch(fetch: (request: Request, env: object) => Response | Promise<Response>): Promise<Served> {
  return new Promise((resolve) => {
    const server = serve({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
      const close = () => {
        if ("closeAllConnections" in server) server.closeAllConnections();
        return new Promise<void>((closed) => void server.close(() => closed()));
      };
      resolve({ url: `http://127.0.0.1:${port}`, connections: counted(server), close });
    });
  });
}

const withHono: Framework = (takers, options) => {
  const app = new Hono();
  const own = optionsFor(options, (c: { req: { raw: Request } }, name) => c.req.raw.headers.get(name) ?? undefined);
  for (const taker of takers) app.use(honoLimiter(taker, own));
  app.onError((error) => new Response(error.message, { status: 500 }));
  app.all("*", (c) => answers(c.req.raw));
  return serveFetch(app.fetch);
};

const withFetch: Framework = (takers, options) => {
  const own = optionsFor(options, (request: Request, name) => request.headers.get(name) ?? undefined);
  const key = own.key ?? (() => "127.0.0.1");
  let handler: (request: Request) => Promise<Response> = answers;
  for (const taker of [...takers].reverse()) handler = fetchLimiter(taker, handler, { ...own, key });
  return serveFetch(async (request) => {
    try {
      return await handler(request);
    } catch (error) {
      return new Response((error as Error).message, { status: 500 });
    }
  });
};

const withNode: Framework = (takers, options) => {
  type Node = Parameters<RequestListener>[0];
  const own = optionsFor(options, (request: Node, name) => request.headers[name]?.toString());
  const limiters = takers.map((taker) => expressLimiter<Node, Parameters<RequestListener>[1]>(taker, own));
  return listen((request, response) => {
    const step = (index: number) => (error?: unknown) => {
      if (error !== undefined) response.writeHead(500).end((error as Error).message);
      else if (index < limiters.length) limiters[index]!(request, response, step(index + 1));
      else if (request.url === "/throws") step(index)(new Error("the handler fails"));
      else if (!answered(request, response)) response.end("through");
    };
    step(0)();
  });
};

export const frameworks: [name: string, framework: Framework][] = [
  ["Express", withExpress],
  ["Fastify", withFastify],
  ["Hono", withHono],
  ["a fetch handler", withFetch],
  ["plain Node", withNode],
];
