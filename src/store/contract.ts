import type { Clock } from "../time.ts";

/** A script's text and the SHA-1 of it, both made by the build from lua/. */
export interface Script {
  readonly text: string;
  readonly sha: string;
}

/** What a script call carries: numbers travel as decimal text, bytes untouched. */
export type Argument = string | number | Uint8Array;

/**
 * The keys that one local step may touch: those that it was given, and no others.
 * A value is whatever the operations of a structure keep under a key; `sizeBytes` is what it counts against the
 * store's bound; `expireAtMs` is absolute, server time.
 */
export interface Keyspace {
  get(key: string): unknown;
  set(key: string, value: unknown, sizeBytes: number, expireAtMs: number): void;
  delete(key: string): void;
}

/**
 * One atomic step on one key (or on several of one slot, then `keysOf` lists them all, first the key itself).
 * It exists twice: `script` in Redis, `local` in the process; both are given the same input and answer the same.
 * Law of both forms: all checks come before the first write; a step that throws has changed nothing.
 */
export interface Operation<Input, Output> {
  /** Path of the step in lua/ and src/, e.g. "window/append". */
  readonly name: string;
  readonly script: Script;
  /** Number of arguments that `encode` gives, the same for every call. */
  readonly arity: number;
  /** Number of keys per step; 1 unless `keysOf` is given. */
  readonly keyCount: number;
  keysOf?(key: string, input: Input): string[];
  /** True where a second run of the same call, whatever happened in between, counts once: it may be sent again. */
  readonly repeatable: boolean;
  encode(input: Input): Argument[];
  /** The script's answer for this key: always bytes. */
  decode(reply: Uint8Array): Output;
  local(keys: Keyspace, key: string, input: Input, nowMs: number): Output;
}

export interface RunOptions {
  signal?: AbortSignal | undefined;
}

/** Runs operations. It knows nothing of structures; structures know nothing of clients, batching or scripts. */
export interface Store {
  /**
   * Runs one step. Rejects with OrielError only: DEADLINE or UNAVAILABLE (transient; `applied` says whether the step
   * may have happened), OVERLOADED, CORRUPT, or what the step itself refused.
   */
  run<Input, Output>(
    operation: Operation<Input, Output>,
    key: string,
    input: Input,
    options?: RunOptions,
  ): Promise<Output>;
  /** Full name of the key of `name`: prefix, braces, escapes. */
  keyOf(name: string): string;
  /** Monotonic ms of this process, for deadlines and estimates of the server's time; never wall time. */
  readonly monotonic: Clock;
  close(): Promise<void>;
}
