import type { Operation, RunOptions, Store } from "../../../src/store/contract.ts";
import type { SimProcess } from "../world/process.ts";
import type { SimStore } from "../world/store.ts";

/** The store of one process: a cluster, whose primaries it reaches by the wires of its side. */
export class ClusterStore implements Store {
  readonly monotonic;
  readonly leaseClock;
  readonly #storeAt: (primary: number) => SimStore;
  readonly #primaryOf: (key: string) => number;
  readonly #stores: (SimStore | undefined)[] = [];
  readonly #received: (output: unknown) => void;

  constructor(
    { monotonic }: SimProcess,
    primaryOf: (key: string) => number,
    storeAt: (primary: number) => SimStore,
    received: (output: unknown) => void = () => {},
  ) {
    this.monotonic = monotonic;
    this.leaseClock = monotonic;
    this.#primaryOf = primaryOf;
    this.#storeAt = storeAt;
    this.#received = received;
  }

  keyOf(name: string): string {
    return `oriel:{${name}}`;
  }

  async close(): Promise<void> {}

  async run<Input, Output>(operation: Operation<Input, Output>, key: string, input: Input, options?: RunOptions) {
    const primary = this.#primaryOf(key);
    this.#stores[primary] ??= this.#storeAt(primary);
    const output = await this.#stores[primary].run(operation, key, input, options);
    this.#received(output);
    return output;
  }
}

/** The bytes in an answer of a step. */
export function byteLengthOf(output: unknown): number {
  if (ArrayBuffer.isView(output)) return output.byteLength;
  if (output === null || typeof output !== "object") return 0;
  return Object.values(output).reduce<number>((sum, each) => sum + byteLengthOf(each), 0);
}
