import { argumentError, checkKnown, OrielError } from "../../errors.ts";
import { placed } from "../../place.ts";
import type { WatchedStore } from "../contract.ts";
import { type ScriptStoreOptions, scriptStore } from "../delivery/script-store.ts";
import { httpClient } from "./http-client.ts";
import type { Fetch } from "./http-request.ts";

export interface HttpStoreOptions extends ScriptStoreOptions {
  /** Of the REST server, http or https, without credentials, query or fragment. */
  url: string;
  /** What the server knows the caller by; sent as `Authorization: Bearer`. One that may only read will not do. */
  token: string;
  /** Default: the runtime's own. */
  fetch?: Fetch | undefined;
}

const KNOWN = [
  ...["url", "token", "fetch", "prefix", "deadline", "maxPendingBytes", "onWarning"],
  ...["scriptOf", "monotonic"],
];

/**
 * A store in Redis 7 or later, or Valkey, behind the REST protocol of Upstash Redis, for runtimes without TCP: `fetch` is
 * all that it needs. It holds no connection and no timer between calls, so that one may be made for each request, as
 * Workers want it; nothing is sent before the first call.
 *
 * Calls made in the same turn travel in one HTTP request, in their order, and each has its own result and error. Every
 * call settles within `deadline`, which a distant server needs more of than one next door. A reply that is lost or
 * cannot be read, and a 5xx, count as no answer: what may be repeated is sent again, else `applied` is "unknown". A 429 is
 * waited for (Retry-After); a token that is refused is UNAVAILABLE, and not transient. Nobody can be listened to: locks and
 * queues look again by time. `replicas` is ARGUMENT: a request may go over any connection, and so WAIT for anyone's writes.
 * Chromium's own fetch sends a request again when a connection that it kept breaks before the answer: in a page, what must not
 * count twice needs an id of its own (`requestId`).
 */
export function httpStore(options: HttpStoreOptions): WatchedStore {
  return placed("httpStore", () => {
    checkKnown(options, KNOWN);
    const { url, token, fetch: given, ...rest } = options;
    if (given !== undefined && typeof given !== "function") throw argumentError("fetch", given, "a function");
    const isToken = typeof token === "string" && /^[!-~]+$/.test(token);
    // Its value is nobody's to read in a log.
    if (!isToken) throw argumentError("token", typeof token, "text of visible ASCII characters, at least one");
    const server = {
      url: checkUrl(url),
      token,
      fetch: given ?? runtimeFetch,
    };
    // By default no request is spent on warnings: an isolate may live for one call.
    const quiet = { ...rest, onWarning: rest.onWarning ?? null };
    return scriptStore((deadlineMs) => httpClient(server, deadlineMs), quiet);
  });
}

const runtimeFetch: Fetch = (...request) => globalThis.fetch(...request);

/** Without the slashes at its end. */
function checkUrl(url: unknown): string {
  const allowed = "http://… or https://…, without credentials, query or fragment";
  let parsed: URL;
  try {
    parsed = new URL(url as string);
  } catch {
    // A text may be a token in the wrong place, or hold a password.
    throw typeof url === "string"
      ? new OrielError("ARGUMENT", `url is no URL; it must be ${allowed}`)
      : argumentError("url", url, allowed);
  }
  const { protocol, username, password, search, hash, origin, pathname } = parsed;
  if (typeof url !== "string" || !/^https?:$/.test(protocol) || username || password || search || hash)
    throw new OrielError("ARGUMENT", `url is of ${protocol}//${parsed.host}; it must be ${allowed}`);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}
