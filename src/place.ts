import { argumentError, OrielError, type OrielErrorCode } from "./errors.ts";

/** What is used of a store to name its server. */
interface Addressed {
  readonly address?: string | undefined;
}

interface NamedStore extends Addressed {
  run: unknown;
  keyOf(name: string): string;
}

/** Errors of which it helps to know the server. */
const OF_SERVER: ReadonlySet<OrielErrorCode> = new Set<OrielErrorCode>([
  "MISMATCH",
  "OVERLOADED",
  "CORRUPT",
  "DEADLINE",
  "UNAVAILABLE",
  "LOST",
  "STALE",
  "DIVERGED",
]);

/**
 * What errors of one structure begin with. Each public method passes what it throws, or rejects with, through its place:
 *
 *   constructor ......... `this.#place = placeOf("Series", store, name)`, then `place.checked(undefined, () => settings(options))`
 *   async method ........ `return this.#place.run("stats", async () => ...)`; with "no" where it changes nothing
 *   method that is hot .. `return promise.catch(this.#failed)`, with `#failed = this.#place.thrower("take")` made once
 *   sync method ......... `try { ... } catch (error) { throw this.#place.error("record", error); }`
 *
 * The error is made anew there, in the public method's own async frame, so that its stack goes on to the caller's line.
 * What is no OrielError (a signal's reason, what a callback threw) passes as it is, and so does what has a place already,
 * since it may be a signal's reason too; a structure made of others uses `outer`.
 */
export class Place {
  readonly #structure: string;
  readonly #name: string | undefined;
  readonly #store: Addressed | undefined;

  /** `name` may be a wrong one, which is left out. */
  constructor(structure: string, name?: unknown, store?: Addressed) {
    this.#structure = structure;
    this.#name = typeof name === "string" ? name : undefined;
    this.#store = store;
  }

  /**
   * The same error, told from here. `operation`: the public method's name; undefined for a constructor or function.
   * `applied`: "no" for a method that changes nothing, whatever became of its requests.
   */
  error(operation: string | undefined, error: unknown, applied?: "no"): unknown {
    return error instanceof OrielError && error.structure === undefined ? this.outer(operation, error, applied) : error;
  }

  /** As `error`, and in place of where an inner structure says that it happened; that one knows its server, if it has one. */
  outer(operation: string | undefined, error: unknown, known?: "no"): unknown {
    if (!(error instanceof OrielError)) return error;
    const { code, cause, transient, retryAfterMs } = error;
    const applied = known ?? error.applied;
    const server = error.structure === undefined ? (error.address ?? this.#store?.address) : error.address;
    const address = OF_SERVER.has(code) ? server : undefined;
    const place = { structure: this.#structure, structureName: this.#name, operation, address };
    return new OrielError(code, OrielError.detailOf(error), { cause, transient, applied, retryAfterMs }, place);
  }

  /** What `call` gives or rejects with, told from here; `applied` as of `error`. */
  async run<T>(operation: string | undefined, call: () => T | Promise<T>, applied?: "no"): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.error(operation, error, applied);
    }
  }

  /** As `run`, for what calls other structures: see `outer`. */
  async runOuter<T>(operation: string, call: () => T | Promise<T>, applied?: "no"): Promise<T> {
    try {
      return await call();
    } catch (error) {
      throw this.outer(operation, error, applied);
    }
  }

  /** For a promise's `catch`, on hot paths: made once for each method. */
  thrower(operation: string): (error: unknown) => never {
    return (error) => {
      throw this.error(operation, error);
    };
  }

  /** What `check` gives; what it throws is told from here. */
  checked<T>(operation: string | undefined, check: () => T): T {
    try {
      return check();
    } catch (error) {
      throw this.error(operation, error);
    }
  }
}

/** What `call` gives; an error names the public function `name`. For functions that are not hot, which have no structure. */
export function placed<T>(name: string, call: () => T): T {
  return new Place(name).checked(undefined, call);
}

/** A wrong argument of a structure without a name, where a place of its own would cost something on each call. */
export function argumentErrorOf(structure: string, argument: string, value: unknown, allowed: string): unknown {
  return new Place(structure).error(undefined, argumentError(argument, value, allowed));
}

/**
 * The place of a structure that lies under a name in a store; throws ARGUMENT where either is wrong: one rule for all
 * structures. A name is a string that is not empty, has no lone surrogates, and at most 10 240 bytes in UTF-8.
 */
export function placeOf(structure: string, store: NamedStore, name: string): Place {
  const place = new Place(structure, name, store);
  place.checked(undefined, () => {
    checkStore(store);
    if (typeof name !== "string" || name === "") throw argumentError("name", name, "a string that is not empty");
    store.keyOf(name);
  });
  return place;
}

/** Throws ARGUMENT. `also`: what else may stand in its place. */
export function checkStore(store: unknown, also = ""): void {
  const { run, keyOf } = (store ?? {}) as Partial<NamedStore>;
  if (typeof run !== "function" || typeof keyOf !== "function")
    throw argumentError("store", store, `a store of redisStore, httpStore or memoryStore${also}`);
}
