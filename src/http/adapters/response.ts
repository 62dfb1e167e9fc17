import type { Decision } from "../../limits/limiter/decision.ts";
import { type Admission, putHeaders } from "../admission.ts";
import { problemOf } from "../problem.ts";
import { type NodeConnection, type NodeResponse, putOnNode, whenOver } from "./node-response.ts";

/** The default response to a denied request. */
export function deniedResponse(decision: Decision): Response {
  const { status, contentType, body } = problemOf(decision);
  return new Response(body, { status, headers: { "Content-Type": contentType } });
}

/** What @hono/node-server passes to a fetch handler beside the request. */
interface NodeBindings {
  incoming?: { socket?: NodeConnection };
  outgoing?: NodeResponse;
}

/**
 * Answers with what `respond` returns, and the fields. The permit returns when the answer has ended, or fails. `env` is
 * the handler's second argument.
 */
export async function respondWith(
  request: Request,
  env: unknown,
  { headers, release }: Admission,
  respond: () => Response | Promise<Response>,
): Promise<Response> {
  const { incoming, outgoing } = Object(env) as NodeBindings;
  // A binding of Workers to a service has every property, as a function.
  const node = typeof outgoing?.headersSent === "boolean" ? outgoing : undefined;
  if (release !== undefined && node !== undefined) whenOver(node, incoming?.socket, release);
  else if (release !== undefined) whenGone(request, release);
  try {
    const response = withHeaders(await respond(), headers, node);
    return release === undefined || node !== undefined ? response : whenEnded(request, response, release);
  } catch (error) {
    release?.();
    throw error;
  }
}

/**
 * Returns a copy of the response with the fields. The response itself stays as it is: a handler may return one object
 * for many requests, and headers of a fetched response are immutable. What cannot be copied stays without the fields: an
 * upgrade (status 101, or no Response on Bun), an error (status 0), and a response whose body is being read.
 *
 * On @hono/node-server the fields go to Node's response. There one Response with a body may serve many requests, and a
 * handler may answer by itself and return a constant. Fields of the response itself would replace those of Node's.
 */
function withHeaders(response: Response, headers: Record<string, string>, node?: NodeResponse): Response {
  const names = Object.keys(headers);
  if (names.length === 0 || !(response?.status >= 200)) return response;
  if (node && (node.headersSent || !names.some((name) => response.headers.has(name)))) {
    putOnNode(node, headers);
    return response;
  }
  const copy = copyOf(response);
  if (copy === undefined) return response;
  putHeaders(
    headers,
    (name) => copy.headers.get(name),
    (name, value) => copy.headers.set(name, value),
  );
  return copy;
}

/** Undefined if the body is being read. */
function copyOf(response: Response): Response | undefined {
  if (response.bodyUsed) return undefined;
  if (!("Bun" in globalThis)) return response.body?.locked ? undefined : new Response(response.body, response);
  // On Bun a text loses its media type once `body` is asked for. A clone keeps it, and the original is given up.
  const copy = response.clone();
  response.body?.cancel().catch(() => {});
  return copy;
}

/**
 * Calls `ended` when the client disconnects before the end of the response, or at once if it has disconnected. Workers
 * may have no signal.
 */
function whenGone({ signal }: Partial<Request>, ended: () => void): void {
  if (signal?.aborted) ended();
  else signal?.addEventListener("abort", ended, { once: true });
}

/** Finds bodies that are neither read nor cancelled when they are garbage-collected, if the runtime supports it. */
const unreadBodies =
  typeof FinalizationRegistry === "function" ? new FinalizationRegistry<() => void>((ended) => ended()) : undefined;

/**
 * Returns the response, and calls `ended` when its body has ended, failed or been cancelled. Without a body, HEAD
 * included, it calls `ended` at once. The body is read one chunk ahead, so the end of a short body is noticed even if
 * it is never read. For a longer unread body, `ended` is called when it is garbage-collected. `ended` may be called
 * more than once.
 */
function whenEnded(request: Request, response: Response, ended: () => void): Response {
  if (!response?.body || response.body.locked || request.method === "HEAD") {
    ended();
    return response;
  }
  const body = readAhead(response.body.getReader(), ended);
  unreadBodies?.register(body, ended);
  return new Response(body, response);
}

function readAhead(reader: ReadableStreamDefaultReader<Uint8Array>, ended: () => void): ReadableStream<Uint8Array> {
  const read = () => {
    const reading = reader.read();
    reading.then(({ done }) => {
      if (done) ended();
    }, ended);
    return reading;
  };
  let next = read();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await next;
        if (done) return controller.close();
        next = read();
        controller.enqueue(value);
      } catch (error) {
        controller.error(error);
      }
    },
    cancel(reason) {
      ended();
      return reader.cancel(reason);
    },
  });
}
