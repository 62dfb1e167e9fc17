import type { Clock } from "../base/time.ts";
import type { StoreFailure } from "./health/failures.ts";

/** A script's text, which the build makes from lua/. Stores compute its SHA-1, which would take 40 bytes in a bundle. */
export interface Script {
  readonly text: string;
}

/** An argument of a script call. Numbers travel as decimal text, bytes untouched. */
export type Argument = string | number | Uint8Array;

/**
 * The keys that one local step may touch: only its declared keys, except through `find`. Writes take effect when the
 * step returns. A structure decides which values it stores under a key. `sizeBytes` is the value's size in the heap
 * (store/memory/heap-bytes.ts). It counts against the store's bound, together with the key. `expireAtMs` is absolute
 * server time; Infinity means that the key never expires. As in Redis, a key exists at `expireAtMs` and is gone after
 * it.
 */
export interface Keyspace {
  get(key: string): unknown;
  /**
   * The value of a key that was not declared, in the slot of the declared keys. Undefined does not mean that the key is
   * absent: in Redis it may be on another node, or the server may refuse to read it. Use it only in steps whose caller
   * then declares the key in a second call.
   */
  find(key: string): unknown;
  /**
   * Writes a value. It throws OVERLOADED if the store is full and the step would make it grow, so it is the last check
   * of a step. A step that throws must have changed nothing. So a value, such as a growing buffer, may be changed in
   * place only after the last `set` of the step, which passes its new size and expiry.
   */
  set(key: string, value: unknown, sizeBytes: number, expireAtMs: number): void;
  delete(key: string): void;
  /** Sends `message` to the subscribers of `channel` when the step's writes take effect, as PUBLISH does in Redis. */
  publish(channel: string, message: string): void;
}

/**
 * One atomic step on one key, or on several keys of one slot. `keysOf` lists several keys, the key itself first.
 * A step exists twice: `script` in Redis, `local` in the process. Both receive the same input and give the same answer.
 * In both forms all checks come before the first write. A step that throws has changed nothing.
 */
export interface Step<Input, Output> {
  /** Path of the step in lua/ and src/, e.g. "journal/append". */
  readonly name: string;
  readonly script: Script;
  /** Number of keys per step; 1 unless `keysOf` is given. */
  readonly keyCount: number;
  keysOf?(key: string, input: Input): string[];
  /**
   * True if two runs of the same call have the effect of one, whatever happened in between. Then it may be sent again.
   */
  readonly repeatable: boolean;
  /** Bound on the bytes of calls in one script call, because Redis serves no other client during it. Default 1 MiB. */
  readonly maxBytes?: number;
  /** True if the data exists only in Redis and never expires. A server without an append-only file causes a warning. */
  readonly mustLast?: true;
  local?(keys: Keyspace, key: string, input: Input, nowMs: number): Output;
  /** Instead of a `local` that is large: the version of oriel whose stores in memory bring it. */
  readonly localFrom?: string;
}

/** A step whose input is several arguments of any length. */
export interface StepOfArguments<Input, Output> extends Step<Input, Output> {
  /** Number of arguments that `encode` returns, the same for every call. */
  readonly arity: number;
  /** The bytes of the input must not change until the call settles. */
  encode(input: Input): Argument[];
  /**
   * Reads the script's answer for this key. `reply` is a view of a larger buffer, which it keeps in memory. Copy the
   * parts that you keep.
   */
  decode(reply: Uint8Array): Output;
}

/** The layout of a step's input and answer in bytes. All inputs have the same size, and so have all answers. */
export interface PackedForm<Input, Output> {
  readonly inputBytes: number;
  readonly answerBytes: number;
  /** Writes all of `inputBytes` at `at`. It is called each time the call is sent, with the same input. */
  write(view: DataView, at: number, input: Input): void;
  read(view: DataView, at: number): Output;
}

/**
 * A packed form, and how calls share it. `packed` of delivery/packed.ts makes it. Steps import it and stores do not,
 * since few steps have one.
 */
export interface Packing<Input, Output> extends PackedForm<Input, Output> {
  /** The arguments of the calls with these inputs. */
  argumentsOf(inputs: readonly Input[]): Argument[];
  /** Calls `answered` or `refused` for each call. Throws if `replies` are not those of `count` calls. */
  answersOf(
    replies: readonly unknown[],
    count: number,
    answered: (i: number, read: () => Output) => void,
    refused: (i: number, code: string, text: string) => void,
  ): void;
}

/**
 * A step of fixed sizes. All calls that travel together are one argument and one answer. This halves the cost of a
 * small step on both sides.
 */
export interface PackedStep<Input, Output> extends Step<Input, Output> {
  readonly packing: Packing<Input, Output>;
}

/** One atomic step on keys, in Lua for Redis and in TypeScript for memory. Authors of structures write it. */
export type Operation<Input, Output> = StepOfArguments<Input, Output> | PackedStep<Input, Output>;

/** How a store runs one step: signal, replicas, and what is known of an earlier attempt. */
export interface RunOptions {
  signal?: AbortSignal | undefined;
  /**
   * Number of replicas that must confirm the step's writes before the call resolves; default 0. If fewer confirm in
   * time, the call rejects as if the reply were lost. A store without replicas rejects with ARGUMENT.
   */
  replicas?: number | undefined;
  /**
   * Called just before the call resolves, with an object that identifies one script call. Steps that receive the same
   * object ran at one instant, without another client's steps between them. A store that cannot know does not call it.
   */
  ranIn?: ((run: object) => void) | undefined;
  /**
   * Called just before the call resolves, if no other copy of the request can have run: it was sent once, and nothing
   * on the way sends it again (some runtimes' fetch does, and a proxy may). A refusal is then final. A store does not
   * call it if it cannot know this, or if it sent the request again after a lost answer.
   */
  ranOnce?: (() => void) | undefined;
}

/** Runs operations. A store knows no structures. Structures know no clients, batches or scripts. */
export interface Store {
  /**
   * Runs one step. If `signal` is aborted, it rejects with the signal's reason, unchanged. Otherwise it rejects only
   * with OrielError: DEADLINE or UNAVAILABLE (transient), OVERLOADED, CORRUPT, or the step's own refusal. `applied`
   * says whether the step may have happened. It is "unknown" for a refusal too if an earlier attempt was not answered.
   */
  run<Input, Output>(
    operation: Operation<Input, Output>,
    key: string,
    input: Input,
    options?: RunOptions,
  ): Promise<Output>;
  /**
   * Calls `listener` with each message on `channel`. It calls it without a message each time the subscription is
   * established, since earlier messages may have been missed, and when the store is closed. A message may be lost or arrive
   * twice: it is only a hint to look. Returns a function that ends the subscription. Absent or undefined if the server supports no subscriptions.
   */
  readonly subscribe?: ((channel: string, listener: (message?: string) => void) => () => void) | undefined;
  /** The server's host and port, or URL, without credentials, for messages. Absent if there is no server. */
  readonly address?: string | undefined;
  /** Full name of the key of `name`, with prefix, braces and escapes. */
  keyOf(name: string): string;
  /** Monotonic ms of this process, for deadlines and estimates of the server's time; never wall time. */
  readonly monotonic: Clock;
  /**
   * The monotonic clock plus the time that the machine slept (`src/base/async/lease-clock.ts`). Leases are measured with
   * it.
   */
  readonly leaseClock: Clock;
  /**
   * Calls `listener` in each turn of the event loop in which calls are sent, before they are sent. A call that it makes
   * travels with them. It must not throw. A store with `registry: false` does not have it.
   */
  readonly onTurn?: ((listener: () => void) => void) | undefined;
  /** Reports a failure that no call rejects with. */
  report?(failure: StoreFailure): void;
  /**
   * Called by a structure that goes on without the store after `error`, each time that it does. The store says so once for
   * each outage. `effect` is what the structure does meanwhile: `Limiter "a" allows every call`.
   */
  goesOnWithout?(effect: string, error: unknown): void;
  /** Ends the connection. Close the structures first, because events that wait for the store are dropped. */
  close(): Promise<void>;
}

/** Whether a store's server can be used. In a cluster: whether all nodes that calls have needed so far can be used. */
export interface StoreHealth {
  readonly state: "up" | "down";
  /** Start of this state, in ms since 1970. */
  readonly since: number;
  /** Why it is down, in the words of the runtime or the server. */
  readonly reason: string | undefined;
  /**
   * Host and port, path or URL, without credentials. In a cluster: those of the node that is down for the longest
   * time.
   */
  readonly address: string | undefined;
}

/** The events of a store, by name, and what their listeners receive. */
export interface StoreEvents {
  /**
   * No answer came for a whole deadline while calls failed. Until "up", calls on this server (in a cluster: on its
   * keys) fail at once with UNAVAILABLE and `applied` "no". Calls that were sent before are not affected.
   */
  down: { since: number; reason: string; address: string | undefined };
  /** The server has answered, to a probe or to a call that was sent before. */
  up: { address: string | undefined; downMs: number };
  /**
   * A failure that no call rejects with. Either `count` events passed to `observe` were not recorded, or may not have been.
   * Or, with `count` 0, a structure goes on without the store, for the first time in this outage; or a listener threw or
   * rejected: ARGUMENT, with its `cause`.
   */
  error: StoreFailure;
}

/** A store that reports the health of its server. */
export interface WatchedStore extends Store {
  /** The current health, shared by all structures on the store. */
  readonly health: StoreHealth;
  /**
   * Resolves when commands can be sent: the server has answered one. Await it where a program begins, to find a wrong
   * address or password before the first call. Rejects with UNAVAILABLE and the reason. It does so at once if waiting does
   * not help, as with a refused password. Otherwise it takes as long as a first call: at most 2 s for the connection, and
   * `deadline`. A memory store is always ready. It costs one EXISTS.
   */
  ready(): Promise<void>;
  /** The text of one section of INFO, from each primary. Absent if there is no server. Rejects if it is refused. */
  readonly info?: ((section: string) => Promise<string[]>) | undefined;
  /** Adds a listener. Returns a function that removes it. */
  on<Name extends keyof StoreEvents>(name: Name, listener: (event: StoreEvents[Name]) => void): () => void;
}
