import { argumentError } from "../../base/errors.ts";
import type { Argument, Operation, RunOptions } from "../contract.ts";

const NONE: readonly Argument[] = [];

/** One call of `run`. It settles once: with its answer, an error or an abort, whichever comes first. */
export class Call {
  readonly operation: Operation<unknown, unknown>;
  readonly keys: readonly string[];
  readonly input: unknown;
  /** Empty if the input is packed. */
  readonly args: readonly Argument[];
  readonly sizeBytes: number;
  /** Number of replicas that must confirm its writes before it resolves. */
  readonly replicas: number;
  readonly signal: AbortSignal | undefined;
  readonly promise: Promise<unknown>;
  isOpen = true;
  /** True if an attempt was sent and not answered. The step may have run. */
  mayBeApplied = false;
  #resolve!: (output: unknown) => void;
  #reject!: (reason: unknown) => void;
  readonly ranIn: RunOptions["ranIn"];
  readonly ranOnce: RunOptions["ranOnce"];
  readonly #onSettled: (call: Call) => void;

  /** Throws ARGUMENT if the operation makes another number of keys or arguments than it declares. */
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
      throw argumentError(
        operation.name,
        this.args,
        `its declared number of arguments, with ${operation.keyCount} keys`,
      );
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

/** Approximate bytes on the wire: 24 for each part, plus the length of text or bytes. */
function sizeOf(parts: readonly Argument[]): number {
  let sizeBytes = 0;
  for (const part of parts) sizeBytes += 24 + (typeof part === "number" ? 0 : part.length);
  return sizeBytes;
}
