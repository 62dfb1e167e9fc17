import { OrielError } from "../../src/index.ts";
import type { Store } from "../../src/store/contract.ts";
import type { Change } from "./storm.ts";

/** What a store does that breaks its word, and the structures whose books must show it. */
export interface Mutation {
  change: Change;
  seenBy: readonly string[];
}

/** The steps whose answers acknowledge something. */
const ACKNOWLEDGES = /^(window\/(append|append-cold|record|locked-write)|counter\/add|queue\/add|fleet\/flush)$/;
const EVERY = 5;

function every(broken: (run: () => Promise<unknown>, last: unknown) => Promise<unknown>): Change {
  return (store) => {
    const last = new Map<string, unknown>();
    let count = 0;
    const changed = Object.create(store) as typeof store;
    changed.run = (async (operation, key, input, options) => {
      const run = () => store.run(operation, key, input, options);
      const { name } = operation;
      if (!ACKNOWLEDGES.test(name)) return run();
      const answer = last.has(name) && ++count % EVERY === 0 ? await broken(run, last.get(name)) : await run();
      last.set(name, answer);
      return answer;
    }) as Store["run"];
    return changed;
  };
}

export const mutations: Record<string, Mutation> = {
  "a step is not run, and answered as the last one": {
    change: every(async (_run, last) => last),
    seenBy: ["series", "locked window", "counters", "queue", "drain"],
  },
  "a step is run, and said to be refused": {
    change: every(async (run) => {
      await run();
      throw new OrielError("UNAVAILABLE", "on purpose", { transient: true, applied: "no" });
    }),
    seenBy: ["series", "locked window", "counters", "queue", "drain"],
  },
};
