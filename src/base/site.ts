import { argumentError, type ErrorSite, OrielError, type OrielErrorCode } from "./errors.ts";
import { type CallMessage, tracingChannel } from "./tracing.ts";

/** The part of a store that names its server. */
interface Addressed {
  readonly address?: string | undefined;
}

interface NamedStore extends Addressed {
  run: unknown;
  keyOf(name: string): string;
}

const calls = /* @__PURE__ */ tracingChannel("oriel:call");

/** Errors whose message names the server. */
const OF_SERVER: readonly OrielErrorCode[] = [
  "MISMATCH",
  "OVERLOADED",
  "CORRUPT",
  "DEADLINE",
  "UNAVAILABLE",
  "LOST",
  "STALE",
  "DIVERGED",
];

/**
 * Where errors of one structure come from: their messages begin with it. Each public method passes its errors through its site:
 *
 *   constructor ......... `this.#site = siteOf("Series", store, name)`, then `site.checked(undefined, () => settings(options))`
 *   async method ........ `return this.#site.run("stats", async () => ...)`; with "no" if it changes nothing
 *   method that is hot .. `return promise.catch(this.#failed)`, with `#failed = this.#site.thrower("take")` made once
 *   sync method ......... `try { ... } catch (error) { throw this.#site.error("record", error); }`
 *
 * The error is made anew there, in the public method's own async frame, so that its stack continues to the caller's
 * line. An error that is no OrielError (a signal's reason, an error of a callback) passes unchanged. So does an error
 * that has a site already, since it may be a signal's reason too. A structure made of other structures uses `outer`.
 */
export class Site {
  readonly #structure: string;
  readonly #name: string | undefined;
  readonly #store: Addressed | undefined;

  /** `name` may be invalid; it is then left out. */
  constructor(structure: string, name?: unknown, store?: Addressed) {
    this.#structure = structure;
    this.#name = typeof name === "string" ? name : undefined;
    this.#store = store;
  }

  /** As messages begin: `Series "api"`. */
  get name(): string {
    return this.#name === undefined ? this.#structure : `${this.#structure} "${this.#name}"`;
  }

  /**
   * Returns the same error with this site. `operation` is the public method's name, undefined for a constructor or
   * function. `applied` is "no" for a method that changes nothing, whatever happened to its requests.
   */
  error(operation: string | undefined, error: unknown, applied?: "no"): unknown {
    return error instanceof OrielError && !error.structure ? this.outer(operation, error, applied) : error;
  }

  /** Same as `error`, but replaces the site of an inner structure and keeps that structure's server, if it has one. */
  outer(operation: string | undefined, error: unknown, known?: "no"): unknown {
    if (!(error instanceof OrielError)) return error;
    const { code, cause, transient, retryAfterMs, result } = error;
    const applied = known ?? error.applied;
    const server = error.structure ? error.address : (error.address ?? this.#store?.address);
    const address = OF_SERVER.includes(code) ? server : undefined;
    const site = this.#siteOf(operation, address);
    return new OrielError(code, OrielError.detailOf(error), { cause, transient, applied, retryAfterMs, result }, site);
  }

  #siteOf(operation: string | undefined, address: string | undefined): ErrorSite {
    return { structure: this.#structure, structureName: this.#name, operation, address };
  }

  /** Returns the result of `call`. An error gets this site, by the method `how`. `applied` is as in `error`. */
  run<T>(
    operation: string | undefined,
    call: () => T | Promise<T>,
    applied?: "no",
    how: "error" | "outer" = "error",
  ): Promise<T> {
    return this.traced(operation, async () => {
      try {
        return await call();
      } catch (error) {
        throw this[how](operation, error, applied);
      }
    });
  }

  /** Publishes a call on the tracing channel `oriel:call` if anyone listens there. `run` does it. */
  traced<T>(operation: string | undefined, call: () => Promise<T>): Promise<T> {
    if (!calls?.hasSubscribers) return call();
    const message: CallMessage = this.#siteOf(operation, this.#store?.address);
    return calls.tracePromise(() => (message.run ? message.run(call) : call()), message);
  }

  /** For a promise's `catch` on hot paths. It is made once for each method. */
  thrower(operation: string): (error: unknown) => never {
    return (error) => {
      throw this.error(operation, error);
    };
  }

  /** Returns the result of `check`. An error gets this site. */
  checked<T>(operation: string | undefined, check: () => T): T {
    try {
      return check();
    } catch (error) {
      throw this.error(operation, error);
    }
  }
}

/** Same as `site.run`, for a structure that calls other structures: see `outer`. */
export function runOuter<T>(site: Site, operation: string, call: () => T | Promise<T>, applied?: "no"): Promise<T> {
  return site.run(operation, call, applied, "outer");
}

/**
 * Returns the result of `call`. An error names the public function `name`. For functions without a structure, off hot
 * paths.
 */
export function atSite<T>(name: string, call: () => T): T {
  return new Site(name).checked(undefined, call);
}

/** The error for a wrong argument of a structure without a name, if a `Site` would slow down each call. */
export function argumentErrorOf(structure: string, argument: string, value: unknown, allowed: string): unknown {
  return new Site(structure).error(undefined, argumentError(argument, value, allowed));
}

/**
 * The site of a structure with a name in a store. Throws ARGUMENT if the store or the name is invalid. A name is a
 * string that is not empty and has no lone surrogates. It has at most 10 240 bytes in UTF-8. The rule is the same for
 * all structures.
 */
export function siteOf(structure: string, store: NamedStore, name: string): Site {
  const site = new Site(structure, name, store);
  site.checked(undefined, () => {
    checkStore(store);
    if (typeof name !== "string" || !name) throw argumentError("name", name, "a string that is not empty");
    store.keyOf(name);
  });
  return site;
}

/** Throws ARGUMENT unless `store` is a store. The message ends in `also`, which names other allowed values. */
export function checkStore(store: unknown, also = ""): void {
  const { run, keyOf } = (store ?? {}) as Partial<NamedStore>;
  if (typeof run !== "function" || typeof keyOf !== "function")
    throw argumentError("store", store, `a store of redisStore, httpStore or memoryStore${also}`);
}
