import { endsWithRequest } from "../../base/async/of-request.ts";
import { within } from "../../base/async/within.ts";
import { argumentError, OrielError } from "../../base/errors.ts";
import type { Site } from "../../base/site.ts";
import type { Clock } from "../../base/time.ts";
import { warn } from "../../base/warn.ts";
import { ExpiringCache, entryBytesOf } from "./client/expiring-cache.ts";
import type { Policy } from "./policies.ts";

/** A function of policies may look at it beside the id. */
export interface PoliciesCall {
  /** Of a middleware: the client's key, before it becomes an id. Otherwise the option `key` of the call, or the id. */
  readonly key: unknown;
  /** Of a middleware: the request. Otherwise the option `request` of the call. */
  readonly request: unknown;
  /** Aborts if the function takes longer than 5 s. */
  readonly signal: AbortSignal;
}

/**
 * The policies of all ids, or a function of the id. All ids have the same policy names and kinds. A promise of policies is kept for
 * `cacheFor`. If the function fails, the last policies of the id hold on, and the function is asked again after a second, while no
 * call waits for it. Without such policies the call rejects with the function's error, or with DEADLINE if it took 5 s.
 */
export type PoliciesOf =
  | readonly Policy[]
  | ((id: string, call: PoliciesCall) => readonly Policy[] | Promise<readonly Policy[]>);

type PoliciesFunction = Exclude<PoliciesOf, readonly Policy[]>;

const MAX_POLICIES = 16;
const MAX_LOAD_MS = 5000;
/** A function that failed is asked again after this time. */
const RETRY_MS = 1000;
/** A failure after this time without one is a new outage, of which a warning says so. Meanwhile other ids may be loaded. */
const OUTAGE_ENDS_MS = 60_000;

interface Known {
  policies: readonly Policy[];
  untilMs: number;
  /** The function failed when it was asked last. Until it answers again, no call waits for it. */
  isFailing: boolean;
}

/** The call of a function, whose signal is made when it is looked at. */
class Call implements PoliciesCall {
  readonly key: unknown;
  readonly request: unknown;
  #controller: AbortController | undefined;

  constructor(key: unknown, request: unknown) {
    this.key = key;
    this.request = request;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    // The function may look at its signal later.
    this.#controller ??= new AbortController();
    this.#controller.abort(reason);
  }
}

/** The policies of each id, by a function. Those that were loaded are cached, in at most 8 MiB. */
export class PoliciesById {
  /** Without the server: it has no part in what the function does. */
  readonly #site: Site;
  readonly #policies: PoliciesFunction;
  readonly #cacheMs: number;
  readonly #now: Clock;
  readonly #known: ExpiringCache<Known>;
  /** Calls of an id whose policies are being loaded wait for the same promise. */
  readonly #loading = new Map<string, Promise<readonly Policy[]>>();
  /** The names and kinds of all. */
  #first: readonly Policy[] | undefined;
  #failedMs = Number.NEGATIVE_INFINITY;

  constructor(site: Site, policies: PoliciesFunction, cacheMs: number, now: Clock) {
    this.#site = site;
    this.#policies = policies;
    this.#cacheMs = cacheMs;
    this.#now = now;
    this.#known = new ExpiringCache(now);
  }

  /** A promise, if they are loaded first. Throws and rejects with ARGUMENT, and with what the function throws. */
  of(id: string, key?: unknown, request?: unknown): readonly Policy[] | Promise<readonly Policy[]> {
    const known = this.#known.get(id);
    if (known && this.#now() < known.untilMs) return known.policies;
    const loading = this.#loading.get(id);
    if (loading) return known?.isFailing ? known.policies : loading;
    const call = new Call(key ?? id, request);
    let answer: readonly Policy[] | Promise<readonly Policy[]>;
    try {
      answer = this.#policies(id, call);
    } catch (error) {
      if (!known) throw error;
      answer = Promise.reject(error);
    }
    if (typeof (answer as Promise<unknown> | undefined)?.then !== "function")
      return this.#checked(id, answer as readonly Policy[]);
    const loaded = this.#load(id, call, answer as Promise<readonly Policy[]>, known);
    // No request of a Worker may wait for what another one began.
    if (!endsWithRequest) this.#loading.set(id, loaded);
    const ended = () => void this.#loading.delete(id);
    loaded.then(ended, ended);
    return known?.isFailing ? known.policies : loaded;
  }

  async #load(
    id: string,
    call: Call,
    answer: Promise<readonly Policy[]>,
    known: Known | undefined,
  ): Promise<readonly Policy[]> {
    const beganMs = this.#now();
    const outcome = await within(Promise.resolve(answer), MAX_LOAD_MS);
    if (outcome.kind === "done") {
      if (known) known.isFailing = false; // a wrong answer rejects the next call
      // A copy: a list that the caller changes would pass for the one that was checked and sent before.
      const { value } = outcome;
      const policies = this.#checked(id, Array.isArray(value) ? [...value] : value);
      const kept = { policies, untilMs: beganMs + this.#cacheMs, isFailing: false };
      if (this.#cacheMs > 0) this.#known.set(id, kept, Number.POSITIVE_INFINITY, entryBytesOf(id, policies));
      return policies;
    }
    const late = `policies(${JSON.stringify(id)}) did not answer within ${MAX_LOAD_MS} ms`;
    const error =
      outcome.kind === "failed"
        ? outcome.error
        : this.#site.error(undefined, new OrielError("DEADLINE", late, { transient: true, applied: "no" }));
    call.abort(error);
    if (!known) throw error;
    const nowMs = this.#now();
    if (nowMs - this.#failedMs >= OUTAGE_ENDS_MS)
      warn(
        `${this.#site.name} goes on with the policies that it knows, because its function of policies failed: ${error}`,
      );
    this.#failedMs = nowMs;
    known.untilMs = nowMs + RETRY_MS;
    known.isFailing = true;
    return known.policies;
  }

  #checked(id: string, policies: readonly Policy[]): readonly Policy[] {
    if (policies === this.#first) return policies;
    const argument = `policies(${JSON.stringify(id)})`;
    checkPolicies(policies, argument);
    this.#first ??= policies;
    if (!areAlike(policies, this.#first)) throw argumentError(argument, shapeOf(policies), shapeOf(this.#first));
    return policies;
  }
}

/** Throws ARGUMENT unless they are 1 to 16 policies with different names. */
export function checkPolicies(policies: readonly Policy[], argument = "policies"): readonly Policy[] {
  if (!Array.isArray(policies) || policies.length === 0 || policies.length > MAX_POLICIES)
    throw argumentError(argument, policies, `an array of 1 to ${MAX_POLICIES} policies`);
  for (const one of policies)
    if (typeof one?.kind !== "number")
      throw argumentError(
        argument,
        one,
        "a result of slidingWindow, fixedWindow, calendarWindow, leakyBucket, gcra or concurrency",
      );
  const names = policies.map(({ name }) => name);
  if (new Set(names).size < names.length)
    throw argumentError(argument, names.join(", "), "policies with different names; pass each its option name");
  return policies;
}

const areAlike = (some: readonly Policy[], others: readonly Policy[]) =>
  some.length === others.length &&
  some.every(({ name, kind }, i) => name === others[i]!.name && kind === others[i]!.kind);

/** Names, and the kinds that they do not say. */
function shapeOf(policies: readonly Policy[]): string {
  return policies.map(({ name, kindName }) => (name === kindName ? name : `${name} (${kindName})`)).join(", ");
}

/** Checks the policies of one call. They need the names and kinds of the limiter's policies, in the same order. */
export function checkOverride(override: readonly Policy[], own: readonly Policy[]): readonly Policy[] {
  checkPolicies(override);
  if (!areAlike(override, own)) throw argumentError("policies", shapeOf(override), shapeOf(own));
  return override;
}
