import type { Store } from "../../src/store/contract.ts";

/** A store over `store` whose answers come some turns of the event loop late, each after another number of turns. */
export function lateStore(store: Store): Store {
  let calls = 0;
  return {
    ...store,
    monotonic: store.monotonic,
    keyOf: (name) => store.keyOf(name),
    close: () => store.close(),
    async run(operation, key, input, options) {
      const answer = await store.run(operation, key, input, options);
      for (let turns = calls++ % 5; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      return answer;
    },
  };
}
