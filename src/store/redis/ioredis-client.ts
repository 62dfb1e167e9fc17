/** The used part of an ioredis client (Redis or Cluster, versions 5 and 6). */
export interface IoredisClient {
  readonly status: string;
  readonly isCluster?: boolean;
  /** The connection, if the client is no cluster. */
  readonly stream?: unknown;
  readonly options?: object;
  sendCommand(command: never): unknown;
  call(command: string): unknown;
  connect(): Promise<unknown>;
  disconnect(): void;
  // biome-ignore lint/suspicious/noExplicitAny: the versions declare different types of listeners
  on(event: string, listener: (...args: any[]) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  removeListener(event: string, listener: (...args: any[]) => void): unknown;
  /** In a cluster: for each slot the addresses of its nodes, the primary's first. */
  readonly slots?: readonly (readonly string[] | undefined)[];
  nodes?(role: "master" | "all"): IoredisClient[];
  duplicate?(override?: object): unknown;
}

const outliving = new WeakSet<object>();
const noError = () => {};

/**
 * Adds a listener for further errors to each connection of a client. ioredis listens for one error. A server that refuses
 * a certificate in TLS 1.3 can cause two, an alert and a reset, and the second would end the process.
 */
export function outliveErrors(client: IoredisClient): void {
  if (outliving.has(client)) return;
  outliving.add(client);
  if (client.isCluster) {
    for (const node of client.nodes?.("all") ?? []) outliveErrors(node);
    client.on("+node", outliveErrors);
    return;
  }
  const listen = () => {
    const stream = client.stream as { on?(event: "error", listener: () => void): unknown } | undefined;
    stream?.on?.("error", noError);
  };
  listen();
  client.on("connect", listen);
}
