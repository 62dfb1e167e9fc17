/** A channel of `node:diagnostics_channel` to which both ends of an asynchronous call are published. */
export interface TracingChannel {
  readonly hasSubscribers: boolean;
  tracePromise<T>(call: () => Promise<T>, context: object): Promise<T>;
}

interface Builtins {
  getBuiltinModule?(name: string): { tracingChannel?(name: string): TracingChannel } | undefined;
}

/** Undefined in a runtime without such channels, such as a browser. It is not imported, because bundlers would refuse that. */
export function tracingChannel(name: string): TracingChannel | undefined {
  const builtins = (globalThis as { process?: Builtins }).process;
  return builtins?.getBuiltinModule?.("node:diagnostics_channel")?.tracingChannel?.(name);
}
