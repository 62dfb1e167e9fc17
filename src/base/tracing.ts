/** A channel of `node:diagnostics_channel` to which both ends of an asynchronous call are published. */
export interface TracingChannel {
  readonly hasSubscribers: boolean;
  subscribe(handlers: { start(message: CallMessage): void }): void;
  unsubscribe(handlers: { start(message: CallMessage): void }): void;
  tracePromise<T>(call: () => Promise<T>, context: object): Promise<T>;
}

/** A message of the channel `oriel:call`. */
export interface CallMessage {
  readonly structure: string;
  readonly structureName?: string | undefined;
  readonly operation?: string | undefined;
  readonly address?: string | undefined;
  /** A listener may set it when the call starts. The call then runs inside it, and begins at once. */
  run?: (<T>(call: () => Promise<T>) => Promise<T>) | undefined;
}

interface Builtins {
  getBuiltinModule?(name: string): { tracingChannel?(name: string): TracingChannel } | undefined;
}

/** Undefined in a runtime without such channels, such as a browser. It is not imported, because bundlers would refuse that. */
export function tracingChannel(name: string): TracingChannel | undefined {
  const builtins = (globalThis as { process?: Builtins }).process;
  return builtins?.getBuiltinModule?.("node:diagnostics_channel")?.tracingChannel?.(name);
}
