import { argumentError } from "../../errors.ts";
import type { Argument, Operation, RunOptions } from "../contract.ts";

const NONE: readonly Argument[] = [];

/** One `run` that waits for its answer: settled once, whatever comes first. */
export class Call {
  readonly operation: Operation<unknown, unknown>;
  readonly keys: readonly string[];
  readonly input: unknown;
  /** None where the input is packed. */
  readonly args: readonly Argument[];
  readonly sizeBytes: number;
  /** How many replicas must have what it writes before it is settled. */
  readonly replicas: number;
  readonly signal: AbortSignal | undefined;
  readonly promise: Promise<unknown>;
  isOpen = true;
  /** An attempt was written and its answer is missing: the step may have been run. */
  mayBeApplied = false;
  #resolve!: (output: unknown) => void;
  #reject!: (reason: unknown) => void;
  readonly ranIn: RunOptions["ranIn"];
  readonly ranOnce: RunOptions["ranOnce"];
  readonly #onSettled: (call: Call) => void;

  /** Throws ARGUMENT where the operation does not keep to its own numbers. */
  constructor(
    operation: Operation<unknown, unknown>,
    key: string,
    input: unknown,
    { replicas = 0, signal, ranIn, ranOnce }: RunOptions,
    onSettled: (call: Call) => void,
  ) {
    this.operation = operation;
    this.keys = operation.keysOf?.(key, input) ?? [key];
    this.input = input;
    const isPacked = "packing" in operation;
    this.args = isPacked ? NONE : operation.encode(input);
    if (this.keys.length !== operation.keyCount || (!isPacked && this.args.length !== operation.arity))
      throw argumentError(operation.name, this.args, `${operation.keyCount} keys and its number of arguments`);
    this.replicas = replicas;
    this.signal = signal;
    this.ranIn = ranIn;
    this.ranOnce = ranOnce;
    this.sizeBytes = sizeOf(this.keys) + (isPacked ? operation.packing.inputBytes : sizeOf(this.args));
    this.#onSettled = onSettled;
    // Without the object of `deferred`, which makes each call of a store 3 percent slower.
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
