import type { Decision } from "../../limiter/decision.ts";
import { putHeaders } from "../admission.ts";
import { problemOf } from "../problem.ts";

/** The default response to a denied request. */
export function deniedResponse(decision: Decision): Response {
  const { status, contentType, body } = problemOf(decision);
  return new Response(body, { status, headers: { "Content-Type": contentType } });
}

/**
 * The response with the fields in its header; a copy where its header cannot be changed (one that was fetched). One that
 * hands the connection over (101) has no copy, and may stay without the fields.
 */
export function withHeaders(response: Response, headers: Record<string, string>): Response {
  try {
    put(response, headers);
    return response;
  } catch {
    if (response.status === 101) return response;
    const copy = new Response(response.body, response);
    put(copy, headers);
    return copy;
  }
}

function put(response: Response, headers: Record<string, string>): void {
  putHeaders(
    headers,
    (name) => response.headers.get(name),
    (name, value) => response.headers.set(name, value),
  );
}

/** Calls `ended` where the client goes before the response is over, at once where it has gone already. */
export function whenGone({ signal }: Request, ended: () => void): void {
  if (signal.aborted) ended();
  else signal.addEventListener("abort", ended, { once: true });
}

/** Bodies that nobody reads or cancels are found when they are collected, where the runtime tells. */
const forgotten =
  typeof FinalizationRegistry === "function" ? new FinalizationRegistry<() => void>((ended) => ended()) : undefined;

/**
 * The response, `ended` being called once nothing more of it is made: its body came to its end, failed or was cancelled;
 * at once where no body is sent, HEAD included. The body is read one piece ahead, so that its end is known where nobody
 * reads it. Where a longer one is dropped unread, `ended` is called when it is collected. It may be called more than once.
 */
export function whenEnded(request: Request, response: Response, ended: () => void): Response {
  if (response.body === null || request.method === "HEAD") {
    ended();
    return response;
  }
  const body = readAhead(response.body.getReader(), ended);
  forgotten?.register(body, ended);
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
