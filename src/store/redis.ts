import { argumentError, OrielError } from "../errors.ts";
import type { Clock } from "../time.ts";
import { Aborts } from "./aborts.ts";
import { Batches } from "./batches.ts";
import { Call } from "./call.ts";
import type { Operation, RunOptions, Store } from "./contract.ts";
import { deliver, type ScriptOf } from "./delivery.ts";
import { connectIoredis, type IoredisClient, ioredisClient } from "./ioredis.ts";
import { checkPrefix, keyOf } from "./keys.ts";
import { nodeRedisClient } from "./node-redis.ts";
import { isNodeRedis, type NodeRedisClient, type NodeRedisCluster } from "./node-redis-client.ts";
import { functions, type Scripting, scripts } from "./scripting.ts";
import { watchAppendOnly, watchEviction } from "./warnings.ts";

export interface RedisStoreOptions {
  /** Begins every key; default "oriel:". The client's own keyPrefix is not used. */
  prefix?: string | undefined;
  /**
   * How long one request may take in all, what is sent again included, ms; default 1000. A call of a series that needs
   * several, one after the other, may take a deadline for each: what is recorded or asked waits for the request under way,
   * a process's first record asks for the time before it, a read of closed chunks takes a turn or more after its first.
   * It ends with the first of them that fails. A `signal` bounds a call as a whole.
   */
  deadlineMs?: number | undefined;
  /** Bound on the bytes of calls that wait for an answer; default 64 MiB. Beyond it a call is OVERLOADED. */
  maxPendingBytes?: number | undefined;
  /**
   * Told, at most once for each, what endangers data: a server that may evict keys (`maxmemory-policy` is not
   * "noeviction"), read when the store first reaches it; one that writes no append-only file (`appendonly` is "no"), read
   * when counts are first added or drained. Where INFO is not permitted, nothing is told; default: not read.
   */
  onWarning?: ((warning: string) => void) | undefined;
  /**
   * "eval" (default): steps are scripts in the server's cache. "functions": libraries oriel_… (FUNCTION LOAD, FCALL), which
   * the server keeps, replicates and writes to its files; loaded on every primary, and again where they are missing.
   */
  scripting?: "eval" | "functions" | undefined;
  /** For tests: the script that runs an operation. */
  scriptOf?: ScriptOf | undefined;
  /** For tests: what `monotonic` shows; deadlines do not follow it. */
  monotonic?: Clock | undefined;
}

const NO_OPTIONS: RunOptions = {};

/**
 * A store in Redis 7 or later, or Valkey. A URL (redis://, rediss://, or the path of a unix socket) makes a connection
 * of its own, which ends with the store; a client that is handed in stays open: ioredis 5 or 6 (single, Sentinel,
 * Cluster) or node-redis 5 (client, cluster; its pools and sentinels send again by themselves and are refused).
 *
 * Calls of one operation made in the same turn travel as one script call; each has its own result and error. Every
 * request settles within `deadlineMs`. A server out of reach never throws here: calls reject with UNAVAILABLE, and succeed
 * again when it is back. An AbortSignal rejects its call, and no other, with the signal's reason, as it is; a step that
 * was already sent may still be run. Bytes given to a call must not change until it settles.
 */
export function redisStore(
  client: string | IoredisClient | NodeRedisClient | NodeRedisCluster,
  options: RedisStoreOptions = {},
): Store {
  const { deadlineMs = 1000, maxPendingBytes = 64 * 2 ** 20 } = options;
  const prefix = checkPrefix(options.prefix ?? "oriel:");
  if (typeof deadlineMs !== "number" || !(deadlineMs >= 1 && deadlineMs <= 2 ** 31 - 1))
    throw argumentError("deadlineMs", deadlineMs, "from 1 ms to 2147483647 ms");
  if (!Number.isSafeInteger(maxPendingBytes) || maxPendingBytes < 1)
    throw argumentError("maxPendingBytes", maxPendingBytes, "a whole number of bytes, 1 or more");
  const { scripting = "eval" } = options;
  if (scripting !== "eval" && scripting !== "functions")
    throw argumentError("scripting", scripting, '"eval" or "functions"');
  const connection = scriptClient(client, deadlineMs, scripting === "functions" ? functions : scripts);
  const { onWarning } = options;
  let isFileUnknown = onWarning !== undefined;
  if (onWarning) watchEviction(connection, onWarning);
  const delivery = { client: connection, deadlineMs, scriptOf: options.scriptOf ?? ((operation) => operation.script) };

  const underWay = new Set<Promise<void>>();
  const isAlone = () => pendingCalls === 1;
  const batches = new Batches(connection.isCluster, isAlone, (calls) => {
    const ended = () => void underWay.delete(delivered);
    const delivered = deliver(calls, delivery).then(ended, (cause) => {
      const error = new OrielError("CORRUPT", `${calls[0]!.operation.name} could not be sent`, { cause });
      for (const call of calls) call.reject(error);
      ended();
    });
    underWay.add(delivered);
  });
  let pendingCalls = 0;
  let pendingBytes = 0;
  let closed: Promise<void> | undefined;
  const aborts = new Aborts();
  const onSettled = (call: Call) => {
    pendingCalls--;
    pendingBytes -= call.sizeBytes;
    if (call.signal) aborts.delete(call.signal, call);
  };
  const checkOpen = () => {
    if (closed) throw new OrielError("UNAVAILABLE", "the store is closed");
    const held = Math.max(pendingBytes, connection.unansweredBytes);
    if (held > maxPendingBytes)
      throw new OrielError("OVERLOADED", `${held} bytes wait for answers; the bound is ${maxPendingBytes}`, {
        transient: true,
      });
  };

  return {
    monotonic: options.monotonic ?? (() => performance.now()),
    keyOf: (name) => keyOf(prefix, name),
    ...(connection.subscribe && { subscribe: connection.subscribe }),
    /** Not async: that would put a second promise, and its turns of the microtask queue, before every answer. */
    run<Input, Output>(
      operation: Operation<Input, Output>,
      key: string,
      input: Input,
      options: RunOptions = NO_OPTIONS,
    ): Promise<Output> {
      try {
        const { signal } = options;
        signal?.throwIfAborted();
        checkOpen();
        const call = new Call(operation as Operation<unknown, unknown>, key, input, options, onSettled);
        if (signal) aborts.add(signal, call);
        pendingCalls++;
        pendingBytes += call.sizeBytes;
        batches.add(call);
        if (isFileUnknown && operation.mustLast) {
          isFileUnknown = false;
          watchAppendOnly(connection, onWarning!);
        }
        return call.promise as Promise<Output>;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    /** Refuses new calls, waits for those under way (at most their deadline), then lets go of the client. */
    close() {
      closed ??= (async () => {
        while (pendingCalls > 0 || underWay.size > 0) {
          await new Promise((resolve) => setTimeout(resolve, 0));
          await Promise.all(underWay);
        }
        await connection.close();
      })();
      return closed;
    },
  };
}

function scriptClient(
  client: string | IoredisClient | NodeRedisClient | NodeRedisCluster,
  deadlineMs: number,
  scripting: Scripting,
) {
  if (typeof client === "string") return ioredisClient(connectIoredis(client, deadlineMs), true, scripting);
  if (typeof client === "object" && client !== null) {
    if (isNodeRedis(client)) return nodeRedisClient(client, scripting);
    if (typeof client.sendCommand === "function" && typeof client.status === "string")
      return ioredisClient(client, false, scripting);
  }
  throw argumentError("client", client, "a URL, a client of ioredis, or a client or cluster of node-redis");
}
