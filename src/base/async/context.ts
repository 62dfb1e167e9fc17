interface AsyncHooks {
  AsyncResource: { bind<Run extends (...args: never[]) => unknown>(run: Run): Run };
}

const { process } = globalThis as { process?: { getBuiltinModule?(name: "node:async_hooks"): AsyncHooks | undefined } };
let hooks: AsyncHooks | null | undefined;

/**
 * The callback in the async context of now: an AsyncLocalStorage of its owner has the same value whenever it is called, and
 * not that of the call or the connection which causes it. Without an import, which some bundlers refuse. Where a runtime has
 * no such contexts, or Node is older than 20.16, returns the callback as it is.
 */
export function inThisContext<Run extends (...args: never[]) => unknown>(run: Run): Run {
  if (hooks === undefined)
    try {
      hooks = process?.getBuiltinModule?.("node:async_hooks") ?? null;
    } catch {
      hooks = null;
    }
  return hooks ? hooks.AsyncResource.bind(run) : run;
}
