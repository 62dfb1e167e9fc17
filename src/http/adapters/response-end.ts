/** What is used of Node's response. */
export interface NodeResponse {
  once(event: "close", listener: () => void): unknown;
  readonly closed?: boolean;
}

/** What is used of its connection. */
export interface NodeConnection {
  readonly destroyed?: boolean;
  once?(event: "close", listener: () => void): unknown;
}

/** Of each connection, what to call where it ends before the responses do. */
const open = new WeakMap<NodeConnection, Set<() => void>>();

/**
 * Calls `ended` when a response of Node's is over: sent, or its connection gone. A response that waits for another one of
 * its connection (pipelining), or has none (upgrades), is not closed with the connection: both are watched.
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

/** One listener for each connection, however many requests it carries. */
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
