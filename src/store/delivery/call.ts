import { onAbort } from "../../base/async/aborts.ts";
import { type Outcome, within } from "../../base/async/within.ts";
import { argumentError } from "../../base/errors.ts";
import type { Argument, Operation, RunOptions } from "../contract.ts";
import type { ScriptClient } from "./client.ts";

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
  readonly promise: Promise<unknown>;
  isOpen = true;
  /** True if an attempt was sent and not answered. The step may have run. */
  mayBeApplied = false;
  #resolve!: (output: unknown) => void;
  #reject!: (reason: unknown) => void;
  readonly ranIn: RunOptions["ranIn"];
  readonly ranOnce: RunOptions["ranOnce"];
  readonly ignoreAbort: (() => void) | undefined;
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
    this.ignoreAbort = signal && onAbort(signal, () => this.reject(signal.reason));
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

/** A call that waits for the first connection beyond its deadline looks this often whether that has failed. */
const LOOK_MS = 20;
/** At most so often: for 2 s, in which the time that a busy process stands still is not counted. */
const MAX_LOOKS = 100;

/**
 * The time of one request. Its deadline begins when the client can send: neither the load of the client nor its first
 * connection is part of it. They have a limit of their own, 2 s beyond the deadline. A first connection that fails, and
 * each later one, is part of the deadline.
 */
export class CallTime {
  readonly deadlineMs: number;
  readonly #client: ScriptClient;
  readonly #beganMs = performance.now();
  #endMs: number;
  #isOpening = false;
  #looks = 0;

  constructor(client: ScriptClient, deadlineMs: number) {
    this.#client = client;
    this.deadlineMs = deadlineMs;
    this.#endMs = this.#beganMs + deadlineMs;
  }

  /** When the deadline began. */
  get beganAtMs(): number {
    return this.#endMs - this.deadlineMs;
  }

  get leftMs(): number {
    return this.#endMs - performance.now();
  }

  /** Undefined if the client can send now. Otherwise pass the promise to `wait`, and ask again. */
  ready(): Promise<void> | undefined {
    const ready = this.#client.whenReady();
    if (ready === undefined) {
      if (this.#isOpening) this.#endMs = performance.now() + this.deadlineMs;
      this.#isOpening = false;
      return undefined;
    }
    ready.catch(() => {});
    this.#isOpening = this.#client.isOpening === true && this.#looks < MAX_LOOKS;
    return ready;
  }

  /** Whether the time is over. While the first connection was being opened, when last asked, it is not. */
  get isOver(): boolean {
    return this.leftMs <= 0 && !this.#isOpening;
  }

  wait(ready: Promise<void>): Promise<Outcome<void>> {
    const { leftMs } = this;
    if (leftMs > 0 || !this.#isOpening) return within(ready, leftMs);
    this.#looks++;
    return within(ready, LOOK_MS);
  }

  /** How long the request was tried, for messages: its deadline, or longer if that has not begun. */
  get triedMs(): number {
    return this.#looks > 0 ? Math.round(performance.now() - this.#beganMs) : this.deadlineMs;
  }
}
