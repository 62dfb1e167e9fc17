import type { Decision } from "../../limiter/decision.ts";
import { putHeaders } from "../admission.ts";
import { problemOf } from "../problem.ts";

/** The default response to a denied request. */
export function deniedResponse(decision: Decision): Response {
  const { status, contentType, body } = problemOf(decision);
  return new Response(body, { status, headers: { "Content-Type": contentType } });
}

/**
 * Returns a copy of the response with the fields. The response itself stays as it is: a handler may return one object
 * for many requests, and headers of a fetched response are immutable. A response with status 101 (Switching Protocols)
 * or 0 (an error), or whose body is being read, cannot be copied and stays without the fields.
 */
export function withHeaders(response: Response, headers: Record<string, string>): Response {
  if (response.status < 200 || response.bodyUsed || response.body?.locked) return response;
  const copy = new Response(response.body, response);
  put(copy, headers);
  return copy;
}

function put(response: Response, headers: Record<string, string>): void {
  putHeaders(
    headers,
    (name) => response.headers.get(name),
    (name, value) => response.headers.set(name, value),
  );
}

/** Calls `ended` when the client disconnects before the end of the response, or at once if it has disconnected. */
export function whenGone({ signal }: Request, ended: () => void): void {
  if (signal.aborted) ended();
  else signal.addEventListener("abort", ended, { once: true });
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
export function whenEnded(request: Request, response: Response, ended: () => void): Response {
  if (response.body === null || request.method === "HEAD") {
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
