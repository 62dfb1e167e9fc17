import { memoryStore } from "../../../src/entries/index.ts";
import type { Store } from "../../../src/store/contract.ts";
import { START_MS } from "./stores.ts";

export type Run = Store["run"];

/** Whether a step of this name writes events. */
export function isWrite(name: string): boolean {
  return name === "journal/append" || name === "journal/append-and-read-outlines" || name === "journal/record";
}

/** A memory store on a stepped clock whose steps may be changed on their way. */
export function storeWith(
  change: (name: string, key: string, run: () => Promise<unknown>) => Promise<unknown> = (_n, _k, run) => run(),
) {
  const clock = { nowMs: START_MS };
  const store = memoryStore({ clock: () => clock.nowMs, maxBytes: 2 ** 30 });
  const run = ((operation, key, input, options) =>
    change(operation.name, key, () => store.run(operation, key, input, options))) as Run;
  const changed: Store = { ...store, run };
  return { store: changed, plain: store as Store, clock };
}
