import { OrielError } from "../../src/base/errors.ts";
import type { Sink } from "../../src/entries/sql.ts";
import type { Store } from "../../src/store/contract.ts";

/** A wrapper that fails on demand, before or after the wrapped call did its work. */
export function failing(sink: Sink, before: () => boolean, after: () => boolean): Sink {
  const lost = (applied: "no" | "unknown") => new OrielError("UNAVAILABLE", "on purpose", { applied, transient: true });
  return {
    ...sink,
    async apply(...args) {
      if (before()) throw lost("no");
      const applied = await sink.apply(...args);
      if (after()) throw lost("unknown");
      return applied;
    },
  };
}

/** The process dies at a step of the drain, before or after it was done: nothing more is heard of it. */
export function dying(store: Store, dies: (name: string) => "before" | "after" | undefined): Store {
  return {
    ...store,
    async run(operation, key, input, options) {
      const when = dies(operation.name);
      if (when === "before") throw new Error("died");
      const output = await store.run(operation, key, input, options);
      if (when === "after") throw new Error("died");
      return output;
    },
  };
}
