import { ServerHealth } from "./server-health.ts";

/** Largest number of remembered nodes. Addresses may change during the life of a process. */
const MAX_NODES = 256;

/** The health of each node of a cluster, by address. */
export class ClusterNodes {
  readonly #addressOf: (key: string) => string | undefined;
  readonly #nodes = new Map<string, ServerHealth>();

  /** `addressOf` returns the address of the node that has `key`, or undefined if it is unknown. */
  constructor(addressOf: (key: string) => string | undefined) {
    this.#addressOf = addressOf;
  }

  /** The node that has `key`; undefined if it is unknown. */
  of(key: string): ServerHealth | undefined {
    const address = this.#addressOf(key);
    if (address === undefined) return undefined;
    let node = this.#nodes.get(address);
    if (!node) {
      if (this.#nodes.size >= MAX_NODES)
        for (const [each, { outage }] of this.#nodes) if (!outage) this.#nodes.delete(each);
      node = new ServerHealth(address);
      this.#nodes.set(address, node);
    }
    return node;
  }

  get all(): ServerHealth[] {
    return [...this.#nodes.values()];
  }
}
