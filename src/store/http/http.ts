import { argumentError, OrielError } from "../../base/errors.ts";
import { fn, given, settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import type { WatchedStore } from "../contract.ts";
import { FOR_TESTS, SCRIPT_STORE, type ScriptStoreOptions, scriptStore } from "../delivery/script-store.ts";
import { httpClient } from "./http-client.ts";
import type { Fetch } from "./http-request.ts";

/** Options of `httpStore`: the REST server, its token, and the options of every store. */
export interface HttpStoreOptions extends ScriptStoreOptions {
  /** URL of the REST server, http or https, without credentials, query or fragment. */
  url: string;
  /** The token, sent as `Authorization: Bearer`. A read-only token is not enough. */
  token: string;
  /** Default: the runtime's `fetch`. */
  fetch?: Fetch | undefined;
}

/**
 * Returns a store in Redis 7 or later, or Valkey, behind the REST protocol of Upstash Redis, for runtimes without TCP.
 * It needs only `fetch`. It has no connection and no timer between calls, so it may be made for each request, as in
 * Workers. It sends nothing before the first call. Throws ARGUMENT.
 *
 * Calls of one turn are sent in one HTTP request, in order. Each has its own result and error. Every call settles
 * within `deadline`; a distant server needs a longer one. A lost or unreadable reply and a 5xx count as no answer: a
 * repeatable call is sent again, otherwise `applied` is "unknown". After an answer with Retry-After, calls wait. A refused
 * token is UNAVAILABLE, and not transient. There are no subscriptions, so locks and queues poll. `replicas` is
 * ARGUMENT, because requests share connections, so
 * WAIT would wait for other writes.
 *
 * Chromium's fetch repeats a request when a kept connection breaks before the answer. In a page, a call that must not
 * count twice needs a `requestId`.
 */
export function httpStore(options: HttpStoreOptions): WatchedStore {
  return atSite("httpStore", () => {
    const { url, token, fetch, ...settings } = settingsOf(
      { url: [urlOf], token: [given<string>], fetch: [fn<Fetch>, runtimeFetch], ...SCRIPT_STORE, ...FOR_TESTS },
      options,
    );
    const isToken = typeof token === "string" && /^[!-~]+$/.test(token);
    // The error does not contain the value, because errors are logged.
    if (!isToken) {
      const given = token === undefined ? "undefined" : token === "" ? "empty" : `a ${typeof token} with other content`;
      throw new OrielError(
        "ARGUMENT",
        `token is ${given}; it must be a string of visible ASCII characters, at least one`,
      );
    }
    // No warnings by default: they cost a request, and an isolate may live for one call.
    const quiet = { ...settings, onWarning: settings.onWarning ?? null };
    return scriptStore((deadlineMs) => httpClient({ url, token, fetch }, deadlineMs), quiet);
  });
}

const runtimeFetch: Fetch = (...request) => globalThis.fetch(...request);

/** Returns the URL without trailing slashes. */
function urlOf(argument: string, url: unknown): string {
  const allowed = "http://… or https://…, without credentials, query or fragment";
  let parsed: URL;
  try {
    parsed = new URL(url as string);
  } catch {
    // The text may be a misplaced token, or contain a password.
    throw typeof url === "string"
      ? new OrielError("ARGUMENT", `url is not a URL; it must be ${allowed}`)
      : argumentError(argument, url, allowed);
  }
  const { protocol, username, password, search, hash, origin, pathname } = parsed;
  if (typeof url !== "string" || !/^https?:$/.test(protocol) || username || password || search || hash)
    throw new OrielError("ARGUMENT", `url is ${protocol}//${parsed.host}; it must be ${allowed}`);
  return `${origin}${pathname}`.replace(/\/+$/, "");
}
