import type { IoredisClient } from "./ioredis-client.ts";

/** The class of ioredis, handed in: who imports it, and when, is the runtime's matter. */
export type RedisClass = new (url: string, options: object) => unknown;

/** A client of our own: it never queues, never sends anything twice by itself, and reconnects for as long as it lives. */
export function connectIoredis(Redis: RedisClass, url: string, deadlineMs: number): IoredisClient {
  return new Redis(url, {
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // With 0, commands without an answer are rejected when their connection closes; otherwise they would hang.
    maxRetriesPerRequest: 0,
    connectTimeout: Math.max(deadlineMs, 1000),
    // A connection that owes answers and is silent for that long is given up, so that a last attempt can have a new one.
    socketTimeout: Math.max((deadlineMs * 2) / 3, 250),
    // What is pending was settled before: a connection that does not end by itself keeps the process no longer.
    disconnectTimeout: 100,
    retryStrategy: (times: number) => Math.min(10 * 2 ** Math.min(times, 10), 500) * (0.5 + Math.random() / 2),
  }) as IoredisClient;
}
