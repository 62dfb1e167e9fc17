import type { Clock } from "../time.ts";
import type { StoreFailure } from "./health/failures.ts";

/** A script's text and the SHA-1 of it, both made by the build from lua/. */
export interface Script {
  readonly text: string;
  readonly sha: string;
  /** Of its form for ASCII arguments (store/ascii.ts); where there is none, that form is sent whole each time. */
  readonly asciiSha?: string;
}

/** What a script call carries: numbers travel as decimal text, bytes untouched. */
export type Argument = string | number | Uint8Array;

/**
 * The keys that one local step may touch: those that it was given, and no others, but for `find`. Writes are kept when the
 * step returns. A value is whatever the operations of a structure keep under a key; `sizeBytes` is what it takes in the heap
 * (store/heap-bytes.ts), and counts against the store's bound with its key; `expireAtMs` is absolute, server time, Infinity where the key never expires. As in Redis, a key is
 * still there at `expireAtMs` and gone after it.
 */
export interface Keyspace {
  get(key: string): unknown;
  /**
   * What a key holds that was not declared, of the declared ones' slot. Undefined says nothing: in Redis it may be on
   * another node, or the server may refuse to look. Only for steps whose caller then asks for it by name.
   */
  find(key: string): unknown;
  /**
   * The last of a step's checks: it throws OVERLOADED where the store is full and the step would make it grow. A value
   * (a growing buffer, say) may be changed in place, but only after the last `set` of the step, which tells its new
   * size and expiry: a step that throws must have changed nothing.
   */
  set(key: string, value: unknown, sizeBytes: number, expireAtMs: number): void;
  delete(key: string): void;
  /** Once the step is kept, tells those who have subscribed to `channel`; the twin of PUBLISH. */
  publish(channel: string, message: string): void;
}

/**
 * One atomic step on one key (or on several of one slot, then `keysOf` lists them all, first the key itself).
 * It exists twice: `script` in Redis, `local` in the process; both are given the same input and answer the same.
 * Law of both forms: all checks come before the first write; a step that throws has changed nothing.
 */
export interface Step<Input, Output> {
  /** Path of the step in lua/ and src/, e.g. "journal/append". */
  readonly name: string;
  readonly script: Script;
  /** Number of keys per step; 1 unless `keysOf` is given. */
  readonly keyCount: number;
  keysOf?(key: string, input: Input): string[];
  /** True where a second run of the same call, whatever happened in between, counts once: it may be sent again. */
  readonly repeatable: boolean;
  /** Of calls that travel together, as nobody else is served meanwhile; default 1 MiB. */
  readonly mostBytes?: number;
  /** True where it is for data that is kept nowhere else and never expires: a server without a file of it is warned of. */
  readonly mustLast?: true;
  local(keys: Keyspace, key: string, input: Input, nowMs: number): Output;
}

/** A step whose input is several arguments of any length. */
export interface StepOfArguments<Input, Output> extends Step<Input, Output> {
  /** Number of arguments that `encode` gives, the same for every call. */
  readonly arity: number;
  /** The bytes given must stay as they are until the call settles. */
  encode(input: Input): Argument[];
  /** The script's answer for this key: always bytes, a view of a larger buffer; copy what is kept for long. */
  decode(reply: Uint8Array): Output;
}

/** How the input and the answer of a step lie in bytes. Every input has one size, and every answer. */
export interface PackedForm<Input, Output> {
  readonly inputBytes: number;
  readonly answerBytes: number;
  /** Writes all of `inputBytes` at `at`; called once for each time the call is sent, with the same input. */
  write(view: DataView, at: number, input: Input): void;
  read(view: DataView, at: number): Output;
}

/** A packed form, and how calls share it: `packed` of delivery/packed.ts makes it. Steps bring it, not stores: few have one. */
export interface Packing<Input, Output> extends PackedForm<Input, Output> {
  /** The arguments of calls with these inputs. */
  argumentsOf(inputs: readonly Input[]): Argument[];
  /** Passes on the answer or the refusal of each of `count` calls. Throws where `replies` are not those of so many calls. */
  answersOf(
    replies: readonly unknown[],
    count: number,
    answered: (i: number, read: () => Output) => void,
    refused: (i: number, code: string, text: string) => void,
  ): void;
}

/**
 * A step of fixed sizes: all calls that travel together are one argument and one answer, which halves what a small step
 * costs on both sides.
 */
export interface PackedStep<Input, Output> extends Step<Input, Output> {
  readonly packing: Packing<Input, Output>;
}

export type Operation<Input, Output> = StepOfArguments<Input, Output> | PackedStep<Input, Output>;

export interface RunOptions {
  signal?: AbortSignal | undefined;
  /**
   * So many replicas must have what the step wrote before it is answered; default 0. Where fewer confirm in time, it
   * rejects as if the reply were lost. A store that has no replicas refuses it (ARGUMENT).
   */
  replicas?: number | undefined;
  /**
   * Told just before the answer what the server ran the step in: steps that are told the same object were run at one
   * instant, with nobody else's between. A store that cannot know tells nothing.
   */
  ranIn?: ((run: object) => void) | undefined;
  /**
   * Called just before the answer where no other copy of the request can have been run: it was sent once, and nothing on
   * the way sends it again (fetch of some runtimes does, and so may a proxy). What the answer refuses is refused for good
   * then. A store that cannot know, or sent it again after an answer was lost, does not call it.
   */
  ranOnce?: (() => void) | undefined;
}

/** Runs operations. It knows nothing of structures; structures know nothing of clients, batching or scripts. */
export interface Store {
  /**
   * Runs one step. Rejects with OrielError only: DEADLINE or UNAVAILABLE (transient; `applied` says whether the step
   * may have happened), OVERLOADED, CORRUPT, or what the step itself refused (where an unanswered attempt came
   * before, `applied` is "unknown" then too); and, where `signal` is aborted, with the signal's reason as it is.
   */
  run<Input, Output>(
    operation: Operation<Input, Output>,
    key: string,
    input: Input,
    options?: RunOptions,
  ): Promise<Output>;
  /**
   * Calls `listener` with each message on `channel`, and without one whenever the subscription begins (again) to stand, since what
   * came before may have been missed. A message may be lost, or told twice: it says that looking is worthwhile, no more.
   * Returns what ends it. Absent where the server cannot be listened to.
   */
  subscribe?(channel: string, listener: (message?: string) => void): () => void;
  /** The server's host and port, or URL, without credentials, for messages; absent where there is no server. */
  readonly address?: string | undefined;
  /** Full name of the key of `name`: prefix, braces, escapes. */
  keyOf(name: string): string;
  /** Monotonic ms of this process, for deadlines and estimates of the server's time; never wall time. */
  readonly monotonic: Clock;
  /** The monotonic clock plus the time that the machine slept (`src/async/lease-clock.ts`). Leases are measured with it. */
  readonly leaseClock: Clock;
  /** Takes what no call rejects with. */
  report?(failure: StoreFailure): void;
  close(): Promise<void>;
}

/** Whether a store's server can be used; of a cluster, whether all nodes can that were needed so far. */
export interface StoreHealth {
  readonly state: "up" | "down";
  /** Of this state, ms since 1970. */
  readonly since: number;
  /** Why it is down, in the words of the runtime or the server. */
  readonly reason: string | undefined;
  /** Host and port, path or URL, without credentials; of a cluster, those of the node that is down for the longest time. */
  readonly address: string | undefined;
}

export interface StoreEvents {
  /**
   * No answer came for a whole deadline while calls failed. Until "up", calls on this server (in a cluster: on its keys)
   * fail at once with UNAVAILABLE, `applied` "no", but for those that were sent before.
   */
  down: { since: number; reason: string; address: string | undefined };
  /** The server has answered, to a probe or to a call that was sent before. */
  up: { address: string | undefined; downMs: number };
  /** What no call rejects with: so many events of `observe` were not recorded, or may not be (`applied`), and why. */
  error: StoreFailure;
}

/** A store, and how its server is. */
export interface WatchedStore extends Store {
  /** As it is now; shared by all structures on the store. */
  readonly health: StoreHealth;
  /** Returns what ends it. */
  on<Name extends keyof StoreEvents>(name: Name, listener: (event: StoreEvents[Name]) => void): () => void;
}
