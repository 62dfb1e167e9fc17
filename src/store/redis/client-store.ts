import { argumentError, OrielError } from "../../base/errors.ts";
import { flag, given, oneOf, settingsOf } from "../../base/options.ts";
import { atSite } from "../../base/site.ts";
import type { WatchedStore } from "../contract.ts";
import { FOR_TESTS, SCRIPT_STORE, type ScriptStoreOptions, scriptStore } from "../delivery/script-store.ts";
import { ioredisClient } from "./ioredis.ts";
import type { IoredisClient } from "./ioredis-client.ts";
import { lazyIoredis, type RedisClass } from "./lazy-ioredis.ts";
import { nodeRedisClient } from "./node-redis.ts";
import { isNodeRedis, type NodeRedisClient, type NodeRedisCluster } from "./node-redis-client.ts";
import { scriptingOf } from "./scripting.ts";
import { checkTls, type TlsOptions } from "./tls.ts";

/** Options of `redisStore` with a URL or a client. */
export interface RedisStoreOptions extends ScriptStoreOptions {
  /**
   * Whether what this process's limiters, queues and breakers do is recorded for the dashboard: counts, in one request 10 s after
   * something happened. Default true in Node, Bun and Deno. There is none in other runtimes, or with `registry: false`.
   */
  history?: boolean | undefined;
  /**
   * "eval" (default): steps are scripts in the server's cache. "functions": steps are functions in libraries named
   * oriel_… (FUNCTION LOAD, FCALL). The server replicates them and saves them with its data. They are loaded on each
   * primary, and again if they are missing.
   */
  scripting?: "eval" | "functions" | undefined;
  /** Only with a URL rediss://: its authorities (`ca`), and this client's certificate (`cert`, `key`). */
  tls?: TlsOptions | undefined;
}

/** A client that a caller passes. */
export type RedisClient = IoredisClient | NodeRedisClient | NodeRedisCluster;

/** A store over a client that the caller passes. Closing the store leaves the client open. */
export function clientStore(client: RedisClient, options: RedisStoreOptions): WatchedStore {
  return atSite("redisStore", () => {
    const { scripting, ...settings } = redisSettings(options);
    if (settings.tls !== undefined)
      throw new OrielError("ARGUMENT", "tls is an option for a URL; give it to the client that you pass");
    return scriptStore(() => {
      if (typeof client === "object" && client !== null) {
        if (isNodeRedis(client)) return nodeRedisClient(client, scripting);
        if (typeof client.sendCommand === "function" && typeof client.status === "string")
          return ioredisClient(client, false, scripting);
      }
      throw argumentError("client", client, "a URL, a client of ioredis, or a client or cluster of node-redis");
    }, settings);
  });
}

/** A store that opens its own connection, and closes it with the store. `load` imports ioredis. */
export function ownStore(
  load: () => Promise<{ Redis: RedisClass }>,
  url: string,
  options: RedisStoreOptions,
): WatchedStore {
  return atSite("redisStore", () => {
    const { scripting, tls, ...settings } = redisSettings(options);
    return scriptStore((deadlineMs) => {
      checkRedisUrl("url", url);
      if (tls !== undefined) checkTls(tls, url);
      return lazyIoredis(load, url, { deadlineMs, tls }, scripting);
    }, settings);
  });
}

function redisSettings(options: RedisStoreOptions) {
  const { scripting, ...settings } = settingsOf(
    {
      ...SCRIPT_STORE,
      history: [flag, true],
      scripting: [oneOf, "eval", "eval", "functions"],
      tls: [given<TlsOptions | undefined>],
      ...FOR_TESTS,
    },
    options,
  );
  return { ...settings, scripting: scriptingOf(scripting) };
}

const ALLOWED = "redis://user:password@host:port/database, rediss://… for TLS, or the path of a unix socket";

/** Throws ARGUMENT, with nothing of the URL but its scheme: all else may be a password, or part of one. */
export function checkRedisUrl(argument: string, url: unknown): asserts url is string {
  if (typeof url !== "string") throw argumentError(argument, url, ALLOWED);
  if (/^\/./.test(url)) return;
  const fault = faultOf(url);
  if (fault !== undefined) throw new OrielError("ARGUMENT", `${argument} ${fault}; it must be ${ALLOWED}`);
}

function faultOf(url: string): string | undefined {
  if (url === "") return "is empty";
  if (/^\s|\s$/.test(url)) return "begins or ends with a blank";
  const scheme = /^([a-z][a-z0-9+.-]{0,20}):\/\//i.exec(url)?.[1];
  if (scheme === undefined) return "has no scheme";
  if (scheme !== "redis" && scheme !== "rediss") return `has the scheme ${scheme}://`;
  if (!URL.canParse(url))
    return "is no URL (in a user name or password, percent-encode what is no letter or digit: encodeURIComponent)";
  const { pathname, username, password } = new URL(url);
  if (!isEncoded(username + password))
    return "has a % without two hexadecimal digits of UTF-8 in its user name or password (write %25: encodeURIComponent)";
  if (!/^\/?\d*$/.test(pathname)) return "has a path that is no number of a database";
  return undefined;
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
