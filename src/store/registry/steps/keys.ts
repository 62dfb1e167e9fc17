import type { Store } from "../../contract.ts";

/** Keys after the base: the structures, when each was announced, the processes, and when each was seen. */
export const keysOf = (base: string): string[] =>
  ["structures", "structures:times", "processes", "processes:times"].map((part) => `${base}:${part}`);

/**
 * The bases of the registry's keys. Locks have a table of their own: programs make many, with a name for each user or
 * order, and these must not displace the other structures.
 */
export const basesOf = (store: Pick<Store, "keyOf">): [structures: string, locks: string] => {
  const base = store.keyOf("registry");
  return [base, `${base}:locks`];
};
