import { idleTimeout, unref } from "../../base/async/timers.ts";
import type { ScriptClient } from "../delivery/client.ts";
import { CLIENT_LOADS, CLIENT_REASONS, STORE_CLOSED } from "../health/client-reasons.ts";
import { addReasons } from "../health/reason.ts";
import { ioredisClient } from "./ioredis.ts";
import type { IoredisClient } from "./ioredis-client.ts";
import type { Scripting } from "./scripting.ts";
import type { TlsOptions } from "./tls.ts";

/**
 * A client with its own connection. ioredis is loaded in the background when the store is made, so a process that
 * opens no URL never loads it. Calls wait in `whenReady` until it is loaded and connected, and keep their deadlines.
 */
export function lazyIoredis(
  load: () => Promise<{ Redis: RedisClass }>,
  url: string,
  options: ConnectOptions,
  scripting: Scripting,
): ScriptClient {
  addReasons(CLIENT_REASONS);
  let client: ScriptClient | undefined;
  let failure: Error | undefined;
  let open = (): void => {};
  let endHeartbeat: (() => void) | undefined;
  /** By which the client was connecting. Fake timers replace them, and what waits for a fake one may never happen. */
  let timers: readonly unknown[] = [];
  const loading = load().then(
    ({ Redis }) => {
      if (failure) return;
      open = () => {
        timers = timersOfNow();
        const own = connectIoredis(Redis, url, options);
        client = ioredisClient(own, true, scripting);
        endHeartbeat = keepAwake(own);
      };
      try {
        open();
      } catch (cause) {
        failure = new Error(`ioredis refuses the options in the URL: ${textOf(cause)}`, { cause });
      }
    },
    (cause) => {
      failure ??= new Error(`the package ioredis cannot be loaded: ${textOf(cause)}${cureOf(cause)}`, { cause });
    },
  );
  const loaded = (): ScriptClient => {
    if (client === undefined) throw failure ?? new Error(CLIENT_LOADS);
    return client;
  };

  /** A client that began under other timers, such as fake ones, is replaced. Its callers then ask again. */
  const whenConnected = (before: ScriptClient): Promise<void> | undefined => {
    const ready = before.whenReady();
    if (ready === undefined || failure) return ready;
    if (timersOfNow().every((timer, i) => timer === timers[i]))
      return ready.catch((error) => {
        if (client === before) throw error;
      });
    ready.catch(() => {}); // nobody waits for the client that is replaced
    endHeartbeat?.();
    open();
    before.close();
    return whenConnected(client!);
  };

  const subscribeWhenLoaded: ScriptClient["subscribe"] = (...request) => {
    let unsubscribe: (() => void) | undefined;
    let isEnded = false;
    loading.then(() => {
      if (!isEnded) unsubscribe = client?.subscribe?.(...request);
    });
    return () => {
      isEnded = true;
      unsubscribe?.();
    };
  };

  return {
    address: addressOf(url),
    get lastError() {
      return client ? client.lastError : (failure ?? new Error(CLIENT_LOADS));
    },
    get isOpening() {
      return client ? client.isOpening === true : failure === undefined;
    },
    get unansweredBytes() {
      return client?.unansweredBytes ?? 0;
    },
    // Callers call it again afterwards. They then share one promise for the connection, so calls keep their order.
    whenReady: () => (client ? whenConnected(client) : loading.then(() => void loaded())),
    call: (...request) => loaded().call(...request),
    forget: (script) => loaded().forget(script),
    exists: (key) => loaded().exists(key),
    info: async (section) => loaded().info(section),
    get subscribe() {
      return client ? client.subscribe : subscribeWhenLoaded;
    },
    async close() {
      failure ??= new Error(STORE_CLOSED);
      endHeartbeat?.();
      await client?.close();
    },
  };
}

const timersOfNow = () => [setTimeout, globalThis.process?.nextTick];

const textOf = (cause: unknown) => String(cause instanceof Error ? cause.message : cause).split("\n")[0];

/** What to do about a package that cannot be loaded. */
function cureOf(cause: unknown): string {
  if (/Dynamic require/.test(textOf(cause)!)) return "; mark it external in the bundler, or build CommonJS";
  return /Cannot find (?:package|module)/.test(textOf(cause)!) ? "; install it beside oriel" : "";
}

/** Host, port, and the database if it is not 0, as ioredis reads them from the URL. Or the path of a socket. */
function addressOf(url: string): string {
  if (url.startsWith("/")) return url;
  const { hostname, port, pathname } = new URL(url);
  const database = Number(pathname.slice(1));
  return `${hostname || "localhost"}:${port || 6379}${database === 0 ? "" : `/${database}`}`;
}

/** The class of ioredis. The caller passes it, because each runtime imports it in its own way and at its own time. */
export type RedisClass = new (url: string, options: object) => unknown;

/** Proxies cut connections that are silent for a minute or so. */
const HEARTBEAT_MS = 20_000;
/** Longest time for one attempt to connect, unless the deadline is longer. */
const CONNECT_MS = 2000;
/** Shortest time between two connections that are given up because they lead to a replica. */
const RENEW_PAUSE_MS = 250;

export interface ConnectOptions {
  readonly deadlineMs: number;
  readonly tls?: TlsOptions | undefined;
}

interface Stream {
  on(event: "data" | "close", listener: () => void): unknown;
  destroy(error: Error): unknown;
}

/** How ioredis watches its connection: it calls `setSocketTimeout` if it writes a command while no timer is set. */
interface Watched {
  readonly stream?: Stream;
  readonly commandQueue?: { readonly length: number };
  socketTimeoutTimer?: unknown;
  setSocketTimeout?(): void;
}

/** A client that oriel owns. It never queues and never repeats a command. It reconnects until it is closed. */
export function connectIoredis(Redis: RedisClass, url: string, { deadlineMs, tls }: ConnectOptions): IoredisClient {
  let renewedAtMs = Number.NEGATIVE_INFINITY;
  // If a connection has unanswered commands and receives nothing for this time, it is closed. A last attempt can then use a new one.
  const socketTimeout = Math.max((deadlineMs * 2) / 3, 250);
  const client = new Redis(url, {
    ...(tls && { tls }),
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // With 0, commands without an answer are rejected when their connection closes; otherwise they would hang.
    maxRetriesPerRequest: 0,
    connectTimeout: Math.max(deadlineMs, CONNECT_MS),
    socketTimeout,
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
  watchSilence(client, socketTimeout);
  return client;
}

/**
 * Closes a connection that owes answers and is silent for `ms`, as the option `socketTimeout` of ioredis does. ioredis sets
 * a timer and a listener for each call that waits alone, at a cost of several percent of the call. Here one timer stays
 * set, and compares times when it ends. A version of ioredis with other names keeps its own way.
 */
function watchSilence(client: IoredisClient, ms: number): void {
  const watched = client as unknown as Watched;
  if (!watched.setSocketTimeout || !watched.commandQueue) return;
  const isOwing = {};
  let sinceMs = 0;
  let isTimed = false;
  let heard: Stream | undefined;

  const wait = (waitMs: number) => {
    isTimed = true;
    idleTimeout(look, waitMs);
  };
  const look = () => {
    isTimed = false;
    if (watched.socketTimeoutTimer === undefined) return;
    // The handshake of a connection has as much time as its opening.
    const longestMs = client.status === "ready" ? ms : Math.max(ms, CONNECT_MS);
    const leftMs = sinceMs + longestMs - performance.now();
    if (leftMs > 0) return wait(leftMs);
    watched.socketTimeoutTimer = undefined;
    heard?.destroy(new Error(`Socket timeout. Expecting data, but didn't receive any in ${longestMs}ms.`));
  };
  // ioredis listens first, so the commands that this data answers are not in the queue any more.
  const hear = () => {
    sinceMs = performance.now();
    if (watched.commandQueue?.length === 0) watched.socketTimeoutTimer = undefined;
  };
  watched.setSocketTimeout = () => {
    watched.socketTimeoutTimer = isOwing;
    sinceMs = performance.now();
    if (!isTimed) wait(ms);
    const { stream } = watched;
    if (heard === stream) return;
    heard = stream;
    stream?.on("data", hear);
    // A closed connection has no unanswered commands. ioredis 5 does not reset this itself, and would close the next connection for it.
    stream?.on("close", () => {
      if (heard === stream) watched.socketTimeoutTimer = undefined;
    });
  };
}

/**
 * Sends PING now and then. Without an answer, the connection is closed after the socket's timeout, before a call meets
 * it. Returns a function that ends it.
 */
function keepAwake(client: IoredisClient): () => void {
  const heartbeat = setInterval(() => {
    if (client.status === "ready") (client.call("PING") as Promise<unknown>).catch(() => {});
  }, HEARTBEAT_MS);
  unref(heartbeat);
  return () => clearInterval(heartbeat);
}
