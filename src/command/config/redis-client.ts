import type { ConnectionOptions } from "node:tls";
import { Cluster, type ClusterOptions, Redis } from "ioredis";
import { OrielError } from "../../base/errors.ts";
import type { TlsOptions } from "../../entries/index.ts";
import { checkRedisUrl } from "../../store/redis/client-store.ts";

/** How long a connection may wait for an answer before it is closed. Longer than any command blocks. */
const MAX_SILENCE_MS = 5000;
const MAX_DOWN_MS = 30_000;

/** True if a --redis option names nodes of a cluster: several URLs separated by commas. */
export function isCluster(redis: string): boolean {
  return urlsOf(redis).length > 1;
}

/** The URLs of a --redis option, or another. Throws ARGUMENT without the URL, which may contain a password. */
export function checkRedis(redis: string, option = "--redis"): string[] {
  const urls = urlsOf(redis);
  for (const url of urls) checkRedisUrl(option, url);
  if (urls.length > 1 && urls[0]!.startsWith("/"))
    throw new OrielError(
      "ARGUMENT",
      `${option} is the path of a socket, and URLs behind it; nodes of a cluster have URLs`,
    );
  return urls;
}

/** Connects at its first use. All nodes have the user, password and TLS of the first URL. Throws ARGUMENT. */
export function clusterClient(redis: string, options: ClusterOptions = {}): Cluster {
  const urls = checkRedis(redis);
  const { protocol, username, password } = new URL(urls[0]!);
  return new Cluster(urls, {
    lazyConnect: true,
    clusterRetryStrategy: (times) => Math.min(50 * times, 500),
    ...options,
    redisOptions: {
      ...options.redisOptions,
      ...(username !== "" && { username: decodeURIComponent(username) }),
      ...(password !== "" && { password: decodeURIComponent(password) }),
      ...(protocol === "rediss:" && { tls: options.redisOptions?.tls ?? {} }),
    },
  }).on("error", () => {}); // failing commands reject with it
}

/**
 * A client for plain commands, not connected yet. It never retries a command on another connection than the commands
 * sent with it, since WAIT answers for the writes before it on its connection. If the server is unreachable, it fails
 * at once.
 */
export function redisClient({ redis = "", tls }: ServerTyped): Redis | Cluster {
  const options = {
    autoResendUnfulfilledCommands: false,
    socketTimeout: MAX_SILENCE_MS,
    ...(tls && { tls: tls as ConnectionOptions }),
  };
  if (isCluster(redis)) return clusterClient(redis, { enableOfflineQueue: false, redisOptions: options });
  checkRedis(redis);
  const alone = { ...options, lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 };
  return new Redis(redis, alone).on("error", () => {});
}

/**
 * Connects a client. Resolves when commands can be sent. Rejects if no node answers, if the cluster stays down for
 * longer than a failover, or when `signal` aborts. The promise of ioredis's own `connect` never settles if the first
 * answering node reports the cluster as down, although the client retries (its pull request 741).
 */
export async function connected(client: Redis | Cluster, signal: AbortSignal): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      late = setTimeout(() => reject(new Error(`the cluster is down for ${MAX_DOWN_MS} ms`)), MAX_DOWN_MS);
      client.once("ready", resolve);
      client.connect().catch(reject);
    });
  } finally {
    clearTimeout(late);
  }
}

function urlsOf(redis: string): string[] {
  return redis.split(/,(?=rediss?:)/).map((url) => url.trim());
}

/** Where the server is, after flags, the environment and a configuration file were looked at. */
export interface ServerTyped {
  redis?: string;
  prefix?: string;
  tls?: TlsOptions;
}
