import { argumentError, checkKnown } from "../errors.ts";
import { isStoreFailure } from "../limiter/client/store-failure.ts";
import type { Decision } from "../limiter/decision.ts";
import { Place } from "../place.ts";
import { clientId, MALFORMED_ADDRESS } from "./client-id.ts";
import { addressKey, checkPrefix } from "./client-key.ts";
import { checkHeaderOptions, type RateLimitHeaderOptions, rateLimitHeaders } from "./headers.ts";
import type { Taker } from "./taker.ts";

/** What a header can be. */
export type HeaderValue = string | readonly string[] | undefined | null;

/** What all middleware take; `Request` is what the framework hands to its handlers. */
export interface LimiterOptions<Request> {
  /**
   * Whom the call counts for. Default: the client's address as the framework knows it, by `clientKey`; all malformed
   * addresses count as one client. A key of more than 256 characters, or one that is not well formed, counts by its
   * SHA-256, as a list does; requests without one (undefined, null) count together.
   */
  key?: ((request: Request) => HeaderValue | Promise<HeaderValue>) | undefined;
  /** Bits of an IPv6 address that make one client, for the default `key`. Default 64. */
  ipv6Prefix?: number | undefined;
  /** Permits a request takes. Default 1. */
  cost?: number | ((request: Request) => number | Promise<number>) | undefined;
  /** True: the request passes without asking the limiter. */
  skip?: ((request: Request) => boolean | Promise<boolean>) | undefined;
  /** What the header fields say; false: none are set. */
  headers?: false | Omit<RateLimitHeaderOptions, "partitionKey"> | undefined;
  /** Tells the client whose quota it is (`pk`), from the request's id. Default: not told. */
  partitionKey?: ((id: string) => string | Uint8Array | undefined) | undefined;
  /**
   * A store that fails (out of reach, too slow, full): "throw" (default) gives the error to the framework; "pass" lets the
   * request pass. Any other error goes to the framework: of `key`, `cost` or `skip`, a wrong argument, a damaged state, an
   * id with more records or reservations than a limiter can count.
   */
  onError?: "throw" | "pass" | undefined;
}

/** An answered request. */
interface Admission {
  decision: Decision;
  headers: Record<string, string>;
  /** To be called when the response has ended: gives back what a concurrency policy lent. Absent where none did. */
  release?: () => void;
}

/** Asks the limiter for one request; undefined: it passes unasked. */
export type Admit<Request> = (request: Request) => Promise<Admission | undefined>;

const decisions = new WeakMap<object, Decision>();

/** The limiter's last decision on a request, in any framework; undefined where none was asked. */
export function decisionOf(request: object): Decision | undefined {
  return decisions.get(request);
}

/**
 * Checks a middleware's arguments (throws ARGUMENT) and makes its question to the limiter. `addressOf`: the client's
 * address, undefined where the framework does not know it; `identity`: the object that `decisionOf` is asked with.
 */
export function admission<Request>(
  name: string,
  taker: Taker,
  options: LimiterOptions<Request>,
  addressOf: (request: Request) => string | undefined,
  identity: (request: Request) => object,
): Admit<Request> {
  check(taker, options);
  const { headers, ipv6Prefix, partitionKey, skip, onError } = options;
  const place = new Place(name);
  const key = options.key ?? ((request: Request) => addressKey(addressOf(request), ipv6Prefix) ?? MALFORMED_ADDRESS);
  /** Undefined where it passes unasked. */
  const asked = async (request: Request) => {
    if (skip !== undefined && (await skip(request))) return undefined;
    const id = await clientId(await key(request));
    return { id, cost: typeof options.cost === "function" ? await options.cost(request) : options.cost };
  };
  return async (request) => {
    const question = await asked(request).catch((error) => {
      throw place.error(undefined, error);
    });
    if (question === undefined) return undefined;
    const { id, cost } = question;
    const taken = taker.take(id, cost === undefined ? {} : { cost });
    const decision = onError === "pass" ? await taken.catch(passed) : await taken;
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

/** Nothing where the store failed; throws what is no failure of the store's, as a client may have caused it. */
function passed(error: unknown): undefined {
  const { name } = Object(error) as { name?: unknown };
  if (name === "OrielError" && !isStoreFailure(error)) throw error;
}

function releaseOf(taker: Taker, id: string, { permit }: Decision): (() => void) | undefined {
  if (permit === undefined || taker.release === undefined) return undefined;
  return once(() => taker.release?.(id, permit));
}

/** A permit that is not given back runs out with its lease: the response has ended, and nobody is there to be told. */
function once(release: () => Promise<unknown> | undefined): () => void {
  let released = false;
  return () => {
    if (released) return;
    released = true;
    release()?.catch(() => {});
  };
}

function check<Request>(taker: Taker, options: LimiterOptions<Request>): void {
  checkKnown(options, OPTIONS);
  if (typeof taker?.take !== "function") throw argumentError("limiter", taker, "a Limiter");
  for (const name of ["key", "skip", "partitionKey"] as const)
    if (options[name] !== undefined && typeof options[name] !== "function")
      throw argumentError(name, options[name], "a function");
  if (
    options.cost !== undefined &&
    typeof options.cost !== "function" &&
    !(Number.isFinite(options.cost) && options.cost > 0)
  )
    throw argumentError("cost", options.cost, "a number of permits above 0, or a function of the request");
  if (options.onError !== undefined && options.onError !== "throw" && options.onError !== "pass")
    throw argumentError("onError", options.onError, '"throw" or "pass"');
  const { headers } = options;
  if (headers !== undefined && headers !== false) checkHeaderOptions(headers, "headers");
  checkPrefix(options.ipv6Prefix ?? 64);
}

const OPTIONS = ["key", "ipv6Prefix", "cost", "skip", "headers", "partitionKey", "onError", "onDenied"];

/** Fields that are lists: what a limiter before this one said stays. */
const LISTS = ["RateLimit", "RateLimit-Policy"];

/** Gives each field to `set`, lists joined to what `get` says is there. */
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
