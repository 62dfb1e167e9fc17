import { ServerHealth } from "./server-health.ts";

/** Nodes remembered at a time: their addresses may change for as long as a process lives. */
const MOST_NODES = 256;

/** The health of each node of a cluster, by address. */
export class ClusterNodes {
  readonly #addressOf: (key: string) => string | undefined;
  readonly #nodes = new Map<string, ServerHealth>();

  /** `addressOf`: of the node that has `key`, where that is known. */
  constructor(addressOf: (key: string) => string | undefined) {
    this.#addressOf = addressOf;
  }

  /** The node that has `key`; undefined where it is unknown. */
  of(key: string): ServerHealth | undefined {
    const address = this.#addressOf(key);
    if (address === undefined) return undefined;
    let node = this.#nodes.get(address);
    if (!node) {
      if (this.#nodes.size >= MOST_NODES)
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
