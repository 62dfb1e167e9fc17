import type { Argument, Operation } from "./contract.ts";

/** One `run` that waits for its answer: settled once, whatever comes first. */
export class Call {
  readonly operation: Operation<never, unknown>;
  readonly keys: readonly string[];
  readonly args: readonly Argument[];
  readonly sizeBytes: number;
  /** How many replicas must have what it writes before it is settled. */
  readonly replicas: number;
  readonly promise: Promise<unknown>;
  isOpen = true;
  /** An attempt was written and its answer is missing: the step may have been run. */
  mayBeApplied = false;
  #resolve!: (output: unknown) => void;
  #reject!: (reason: unknown) => void;
  readonly #onSettled: (call: Call) => void;

  constructor(
    operation: Operation<never, unknown>,
    keys: readonly string[],
    args: readonly Argument[],
    replicas: number,
    onSettled: (call: Call) => void,
  ) {
    this.operation = operation;
    this.keys = keys;
    this.args = args;
    this.replicas = replicas;
    this.sizeBytes = sizeOf(keys) + sizeOf(args);
    this.#onSettled = onSettled;
    this.promise = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(output: unknown): void {
    if (this.#settle()) this.#resolve(output);
  }

  reject(reason: unknown): void {
    if (this.#settle()) this.#reject(reason);
  }

  #settle(): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.#onSettled(this);
    return true;
  }
}

/** About what the parts take on the wire: text counted by its length, 24 bytes for a number or a frame. */
function sizeOf(parts: readonly Argument[]): number {
  let sizeBytes = 0;
  for (const part of parts) sizeBytes += 24 + (typeof part === "number" ? 0 : part.length);
  return sizeBytes;
}
