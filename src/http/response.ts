import type { Decision } from "../limiter/decision.ts";
import { putHeaders } from "./admission.ts";
import { problemOf } from "./problem.ts";

/** The default response to a denied request. */
export function deniedResponse(decision: Decision): Response {
  const { status, contentType, body } = problemOf(decision);
  return new Response(body, { status, headers: { "Content-Type": contentType } });
}

/** The response with the fields in its header; a copy where its header cannot be changed (one that was fetched). */
export function withHeaders(response: Response, headers: Record<string, string>): Response {
  try {
    put(response, headers);
    return response;
  } catch {
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

/** The response, `ended` being called once its body was read to the end, failed or was cancelled; at once without one. */
export function whenEnded(response: Response, ended: () => void): Response {
  if (response.body === null) {
    ended();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      ended();
    },
    cancel(reason) {
      ended();
      return reader.cancel(reason);
    },
  });
  return new Response(body, response);
}
