import { Cluster, type ClusterOptions, Redis } from "ioredis";
import { OrielError } from "../errors.ts";
import { checkRedisUrl } from "../redis-url.ts";

/** How long a connection may wait for an answer before it is closed. Longer than any command blocks. */
const SILENCE_MS = 5000;
const LONGEST_DOWN_MS = 30_000;

/** Whether a --redis option names nodes of a cluster: several URLs with commas between. */
export function isCluster(redis: string): boolean {
  return urlsOf(redis).length > 1;
}

/** The URLs of a --redis option. Throws ARGUMENT, without the URL: it may have a password in it. */
export function checkRedis(redis: string): string[] {
  const urls = urlsOf(redis);
  for (const url of urls) checkRedisUrl("--redis", url);
  if (urls.length > 1 && urls[0]!.startsWith("/"))
    throw new OrielError(
      "ARGUMENT",
      "--redis is the path of a socket, and URLs behind it; nodes of a cluster have URLs",
    );
  return urls;
}

/** Connects when it is first used. All nodes have the user, password and TLS of the first that is named. Throws ARGUMENT. */
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
      ...(protocol === "rediss:" && { tls: {} }),
    },
  }).on("error", () => {}); // a command that fails tells of it
}

/**
 * A client for plain commands, to be connected. None is sent again on another connection than those that were sent with
 * it: what WAIT answers, it answers for the writes before it. Out of reach, it fails instead of waiting.
 */
export function redisClient(redis: string): Redis | Cluster {
  const options = { autoResendUnfulfilledCommands: false, socketTimeout: SILENCE_MS };
  if (isCluster(redis)) return clusterClient(redis, { enableOfflineQueue: false, redisOptions: options });
  checkRedis(redis);
  const alone = { ...options, lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0 };
  return new Redis(redis, alone).on("error", () => {});
}

/**
 * Connects a client; resolves when commands can be sent, rejects where no node answers, where the cluster stays down for
 * longer than a failover takes, and when `signal` aborts. The promise of ioredis's own `connect` never settles where the
 * first node that answered calls the cluster down, though the client tries again (its pull request 741).
 */
export async function connected(client: Redis | Cluster, signal: AbortSignal): Promise<void> {
  let late: NodeJS.Timeout | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      const stop = () => reject(signal.reason);
      if (signal.aborted) return stop();
      signal.addEventListener("abort", stop, { once: true });
      late = setTimeout(() => reject(new Error(`the cluster is down for ${LONGEST_DOWN_MS} ms`)), LONGEST_DOWN_MS);
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
