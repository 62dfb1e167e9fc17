import { permitsInUse } from "../../holds/semaphore/permit-calls.ts";
import type { SemaphorePart } from "../dashboard/parts.ts";
import type { Kind } from "./kind.ts";

const MAX_LISTED = 50;

/** Semaphores of both kinds: the permits in use, and their holds. */
export const semaphoreKind: Kind = {
  columns: [],
  async numbers({ store }, { name, settings: { limit } }) {
    const { count } = await permitsInUse(store, name);
    if (count === 0) return {};
    const isFull = typeof limit === "number" && count >= limit;
    return isFull
      ? { state: `all ${count} in use`, isBad: true, advice: "look for holds that hang, or raise the limit" }
      : { state: `${count} in use` };
  },
  parts: {
    async state(scope, { name, settings }) {
      const { store } = scope;
      const { count, holds: all } = await permitsInUse(store, name);
      const limit = typeof settings.limit === "number" ? settings.limit : null;
      return { body: { limit, inUse: count, holds: all.slice(0, MAX_LISTED) } satisfies SemaphorePart };
    },
  },
  actions: {},
};
