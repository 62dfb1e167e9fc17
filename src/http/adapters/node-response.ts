import { putHeaders } from "../admission.ts";

/** The members of Node's response that are used. */
export interface NodeResponse {
  once(event: "close", listener: () => void): unknown;
  readonly closed?: boolean;
  readonly headersSent?: boolean;
  getHeader(name: string): unknown;
  setHeader(name: string, value: string): unknown;
}

/** The members of its connection that are used. */
export interface NodeConnection {
  readonly destroyed?: boolean;
  once?(event: "close", listener: () => void): unknown;
}

/** The callbacks of each connection's open responses. */
const open = new WeakMap<NodeConnection, Set<() => void>>();

/**
 * Calls `ended` when a Node response is sent or its connection has closed. Both are watched, because Node does not
 * close a response that waits for another one on its connection (pipelining), or has no connection (upgrades).
 */
export function whenOver(response: NodeResponse, connection: NodeConnection | undefined, ended: () => void): void {
  if (response.closed || connection?.destroyed) {
    ended();
    return;
  }
  const waiting = connection === undefined ? undefined : waitingOn(connection);
  waiting?.add(ended);
  response.once("close", () => {
    waiting?.delete(ended);
    ended();
  });
}

/** One listener for each connection, whatever the number of its requests. */
function waitingOn(connection: NodeConnection): Set<() => void> {
  let waiting = open.get(connection);
  if (!waiting) {
    waiting = new Set();
    open.set(connection, waiting);
    connection.once?.("close", () => {
      for (const ended of open.get(connection)!) ended();
    });
  }
  return waiting;
}

/** False: somebody has answered meanwhile, such as a time-out, and the answer is not changed. */
export function putOnNode(response: NodeResponse, headers: Record<string, string>): boolean {
  if (response.headersSent) return false;
  putHeaders(
    headers,
    (name) => response.getHeader(name),
    (name, value) => response.setHeader(name, value),
  );
  return true;
}
