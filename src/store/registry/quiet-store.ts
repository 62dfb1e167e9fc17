import type { Store } from "../contract.ts";

/**
 * The same store for structures that must not announce themselves in the registry: those of the dashboard and of histories.
 * So it has no `onTurn`, and no address, by which stores share an announcer in Workers.
 */
export function quietStore(store: Store): Store {
  return {
    run: (operation, key, input, options) => store.run(operation, key, input, options),
    keyOf: (name) => store.keyOf(name),
    monotonic: store.monotonic,
    leaseClock: store.leaseClock,
    close: async () => {},
  };
}
