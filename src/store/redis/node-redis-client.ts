/** Options that oriel passes to a client of node-redis with each command. */
export interface SendOptions {
  typeMapping?: object;
  abortSignal?: AbortSignal;
  chainId?: symbol;
}

/** The used part of a node-redis client (version 5 or 6). */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly isWatching: boolean;
  readonly options?: unknown;
  connect(): Promise<unknown>;
  duplicate(overrides: object): unknown;
  sendCommand(args: readonly (string | Uint8Array)[], options?: SendOptions): Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: each event has arguments of its own
  on(event: string, listener: (...args: any[]) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  removeListener(event: string, listener: (...args: any[]) => void): unknown;
}

/** The used part of a node-redis cluster (version 5 or 6). */
export interface NodeRedisCluster {
  readonly isOpen: boolean;
  readonly masters: readonly { readonly client?: unknown }[];
  readonly slots?: readonly ({ readonly master?: { readonly address?: string } } | undefined)[];
  connect(): Promise<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  on(event: string, listener: (...args: any[]) => void): unknown;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  removeListener(event: string, listener: (...args: any[]) => void): unknown;
  /**
   * Runs `send` on the node of the key's slot, and again on the node that MOVED or ASK names. Version 5 takes the key,
   * version 6 an object that has it as `firstKey`.
   */
  _execute<T>(
    // biome-ignore lint/suspicious/noExplicitAny: see above
    firstKey: any,
    isReadonly: boolean,
    options: object,
    // biome-ignore lint/suspicious/noExplicitAny: the client's own type has hundreds of methods
    send: (node: any, options?: object) => Promise<T>,
  ): Promise<T>;
}

/** Whether it is a client or a cluster. Pools and sentinel clients are not accepted: they may write a command twice. */
export function isNodeRedis(client: object): client is NodeRedisClient | NodeRedisCluster {
  return isNodeCluster(client) || ("isOpen" in client && "isReady" in client && "isWatching" in client);
}

export function isNodeCluster(client: object): client is NodeRedisCluster {
  return "masters" in client && "_execute" in client;
}

/** Runs `send` on the node that has the key, in either version of a cluster's client. */
export function executeOn<T>(
  cluster: NodeRedisCluster,
  key: string,
  send: (node: NodeRedisClient, options?: object) => Promise<T>,
): Promise<T> {
  return cluster._execute("_executeWithPolicies" in cluster ? { firstKey: key } : key, false, {}, send);
}
