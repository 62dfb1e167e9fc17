import type { Store } from "../../src/store/contract.ts";

/** A store over `store` whose requests can arrive a second time, in their order. */
export function repeatableStore(store: Store): { store: Store; repeatAll(): Promise<void> } {
  const requests: (() => Promise<unknown>)[] = [];
  return {
    store: {
      ...store,
      monotonic: store.monotonic,
      keyOf: (name) => store.keyOf(name),
      close: () => store.close(),
      run(operation, key, input, options) {
        requests.push(() => store.run(operation, key, input));
        return store.run(operation, key, input, options);
      },
    },
    async repeatAll() {
      for (const request of [...requests]) await request();
    },
  };
}
