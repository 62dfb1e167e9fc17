import { unref } from "../../async/timers.ts";
import type { IoredisClient } from "./ioredis-client.ts";
import type { TlsOptions } from "./tls.ts";

/** The class of ioredis. The caller passes it, because each runtime imports it in its own way and at its own time. */
export type RedisClass = new (url: string, options: object) => unknown;

/** Proxies cut connections that are silent for a minute or so. */
const HEARTBEAT_MS = 20_000;
/** Shortest time between two connections that are given up because they lead to a replica. */
const RENEW_PAUSE_MS = 250;

export interface ConnectOptions {
  readonly deadlineMs: number;
  readonly tls?: TlsOptions | undefined;
}

/** A client that oriel owns. It never queues and never repeats a command. It reconnects until it is closed. */
export function connectIoredis(Redis: RedisClass, url: string, { deadlineMs, tls }: ConnectOptions): IoredisClient {
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  return new Redis(url, {
    ...(tls && { tls }),
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // With 0, commands without an answer are rejected when their connection closes; otherwise they would hang.
    maxRetriesPerRequest: 0,
    connectTimeout: Math.max(deadlineMs, 1000),
    // A connection that owes answers and is silent for this time is closed, so that a last attempt can use a new one.
    socketTimeout: Math.max((deadlineMs * 2) / 3, 250),
    // While the server loads its data, it is asked this often whether it is ready.
    maxLoadingRetryTime: 500,
    // Pending calls were settled before. A connection that does not end by itself must not keep the process alive.
    disconnectTimeout: 100,
    // After a failover the host's name may lead to another server, but this connection stays at the former primary.
    reconnectOnError({ message }: Error) {
      const nowMs = performance.now();
      if (!message.startsWith("READONLY") || nowMs - renewedAtMs < RENEW_PAUSE_MS) return false;
      renewedAtMs = nowMs;
      return true;
    },
    retryStrategy: (times: number) => Math.min(10 * 2 ** Math.min(times, 10), 500) * (0.5 + Math.random() / 2),
  }) as IoredisClient;
}

/**
 * Sends PING now and then. Without an answer, the connection is closed after the socket's timeout, before a call meets
 * it. Returns a function that ends it.
 */
export function keepAwake(client: IoredisClient): () => void {
  const heartbeat = setInterval(() => {
    if (client.status === "ready") (client.call("PING") as Promise<unknown>).catch(() => {});
  }, HEARTBEAT_MS);
  unref(heartbeat);
  return () => clearInterval(heartbeat);
}
