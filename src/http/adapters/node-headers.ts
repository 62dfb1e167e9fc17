import { putHeaders } from "../admission.ts";

/** The members of Node's response that hold its header fields. */
export interface NodeHeaders {
  readonly headersSent?: boolean;
  getHeader(name: string): unknown;
  setHeader(name: string, value: string): unknown;
}

/** False: somebody has answered meanwhile, such as a time-out, and the answer is not changed. */
export function putOnNode(response: NodeHeaders, headers: Record<string, string>): boolean {
  if (response.headersSent) return false;
  putHeaders(
    headers,
    (name) => response.getHeader(name),
    (name, value) => response.setHeader(name, value),
  );
  return true;
}
