import { sharedByCopies } from "../base/copies.ts";
import { argumentError } from "../base/errors.ts";
import { fn, given, oneOf, type Schema, settingsOf } from "../base/options.ts";
import { Site } from "../base/site.ts";
import { isStoreFailure, passes } from "../limits/limiter/client/store-failure.ts";
import { type Cost, checkedCost, isByPolicy } from "../limits/limiter/cost.ts";
import type { Decision } from "../limits/limiter/decision.ts";
import { clientId, warnOnce } from "./client-id.ts";
import { clientOf, IPV6_PREFIX } from "./client-key.ts";
import { checkHeaderOptions, type RateLimitHeaderOptions, rateLimitHeaders } from "./headers.ts";
import type { Taker } from "./taker.ts";

/** Any value of a header. */
export type HeaderValue = string | readonly string[] | undefined | null;

/** The options of every middleware. `Request` is the framework's type. */
export interface LimiterOptions<Request> {
  /**
   * The client that the request counts for. Default: the client's address from the framework, by `clientKey`, also with a
   * port or in brackets. All malformed addresses count as one client, and so do all requests without an address. A list, a
   * key of more than 256 characters and one with lone surrogates count by their SHA-256. Requests without a key (undefined,
   * null, "", an empty list) count together. The process is warned once of each.
   */
  key?: ((request: Request) => HeaderValue | Promise<HeaderValue>) | undefined;
  /** Bits of an IPv6 address that make one client, for the default `key`. Default 64. */
  ipv6Prefix?: number | undefined;
  /** Permits a request takes: a number for every policy, or numbers by the names of policies. Default 1. */
  cost?: Cost | ((request: Request) => Cost | Promise<Cost>) | undefined;
  /** True: the request passes, and the limiter does not count it. */
  skip?: ((request: Request) => boolean | Promise<boolean>) | undefined;
  /** Options of the header fields. False: sets none. */
  headers?: false | Omit<RateLimitHeaderOptions, "partitionKey"> | undefined;
  /** The partition key (`pk`) in the header fields, made from the request's id. Default: none. */
  partitionKey?: ((id: string) => string | Uint8Array | undefined) | undefined;
  /**
   * If the store fails (unreachable, too slow, full): "throw" (default) passes the error to the framework; "pass" lets
   * the request pass. All other errors go to the framework: those of `key`, `cost` and `skip`, wrong arguments, damaged
   * states, and ids with more records or reservations than a limiter can count.
   */
  onError?: "throw" | "pass" | undefined;
}

/** A request that the limiter has decided about. */
export interface Admission {
  decision: Decision;
  headers: Record<string, string>;
  /** Returns the permit of a concurrency policy. Call it when the response has ended. Absent without such a permit. */
  release?: () => void;
}

/** Asks the limiter about one request. Undefined: the request passes uncounted. */
export type Admit<Request> = (request: Request) => Promise<Admission | undefined>;

const decisions = sharedByCopies("decisions", () => new WeakMap<object, Decision>());

/** Returns the last decision about a request, in any framework; undefined if no limiter decided. */
export function decisionOf(request: object): Decision | undefined {
  return decisions.get(request);
}

/**
 * Checks a middleware's arguments and returns the function that asks the limiter. Throws ARGUMENT. `addressOf` returns
 * the client's address, or undefined if the framework does not know it. `identity` returns the object for `decisionOf`.
 */
export function admission<Request>(
  name: string,
  taker: Taker,
  options: LimiterOptions<Request>,
  addressOf: (request: Request) => string | undefined,
  identity: (request: Request) => object,
): Admit<Request> {
  const { ipv6Prefix, onError } = settingsOf(OPTIONS, options);
  if (typeof taker?.take !== "function") throw argumentError("limiter", taker, "a Limiter");
  const { headers, partitionKey, skip } = options;
  const site = new Site(name);
  const key = options.key ?? ((request: Request) => clientOf(name, addressOf(request), ipv6Prefix));
  /** Undefined: the request passes uncounted. */
  const takeOf = async (request: Request) => {
    if (skip !== undefined && (await skip(request))) return undefined;
    const own = await key(request);
    if (own === undefined || own === null || own.length === 0) warnOnce(name, "key returned nothing for a request");
    const id = await clientId(own);
    const cost = typeof options.cost === "function" ? await options.cost(request) : options.cost;
    if (cost === undefined && options.cost !== undefined)
      throw argumentError("cost", cost, "a number of permits, or an object of them by policy");
    return { id, options: { key: own, request, ...(cost !== undefined && { cost }) } };
  };
  return async (request) => {
    const take = await takeOf(request).catch((error) => {
      throw site.error(undefined, error);
    });
    if (take === undefined) return undefined;
    const { id } = take;
    const taken = taker.take(id, take.options);
    const decision = onError === "pass" ? await taken.catch((error) => passed(taker, error)) : await taken;
    if (decision === undefined) return undefined;
    decisions.set(identity(request), decision);
    const release = releaseOf(taker, id, decision);
    try {
      const fields =
        headers === false ? {} : rateLimitHeaders(decision, { ...headers, partitionKey: partitionKey?.(id) });
      return { decision, headers: fields, ...(release && { release }) };
    } catch (error) {
      release?.();
      throw error;
    }
  };
}

/** Reports a failure of the store once an outage. Throws any other error, because a client may have caused it. */
function passed(taker: Taker, error: unknown): undefined {
  const { name } = Object(error) as { name?: unknown };
  if (name === "OrielError" && !isStoreFailure(error)) throw error;
  (taker as { [passes]?(error: unknown): void })[passes]?.(error);
}

function releaseOf(taker: Taker, id: string, { permit }: Decision): (() => void) | undefined {
  if (permit === undefined || taker.release === undefined) return undefined;
  return once(() => taker.release?.(id, permit));
}

/** Failures are ignored: the response has ended, and a permit that is not returned ends with its lease. */
function once(release: () => Promise<unknown> | undefined): () => void {
  let released = false;
  return () => {
    if (released) return;
    released = true;
    release()?.catch(() => {});
  };
}

const OPTIONS = {
  key: [fn<object>, null],
  ipv6Prefix: IPV6_PREFIX,
  cost: [costOf, 1],
  skip: [fn<object>, null],
  headers: [
    (of: string, headers: RateLimitHeaderOptions | false) => headers !== false && checkHeaderOptions(headers, of),
    {},
  ],
  partitionKey: [fn<object>, null],
  onError: [oneOf, "throw", "throw", "pass"],
  /** Of each framework. */
  onDenied: [given<unknown>],
} as const satisfies Schema<LimiterOptions<never> & { onDenied?: unknown }>;

function costOf(argument: string, cost: Cost | ((request: never) => unknown)): void {
  if (typeof cost === "function") return;
  if (isByPolicy(cost)) checkedCost(cost, argument);
  else if (!Number.isFinite(cost) || cost <= 0)
    throw argumentError(
      argument,
      cost,
      "a number of permits above 0, an object of them by policy, or a function of the request",
    );
}

/** Fields that are lists. Items of an earlier limiter stay in them. */
const LISTS = ["RateLimit", "RateLimit-Policy"];

/** Passes each field to `set`. A list is appended to the value that `get` returns. */
export function putHeaders(
  headers: Record<string, string>,
  get: (name: string) => unknown,
  set: (name: string, value: string) => void,
): void {
  for (const [name, value] of Object.entries(headers)) {
    const before = LISTS.includes(name) ? get(name) : undefined;
    set(name, before === undefined || before === null ? value : `${before}, ${value}`);
  }
}
