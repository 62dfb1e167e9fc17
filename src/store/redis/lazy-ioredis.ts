import type { ScriptClient } from "../delivery/client.ts";
import { CLIENT_LOADS, CLIENT_REASONS, STORE_CLOSED } from "../health/client-reasons.ts";
import { addReasons } from "../health/reason.ts";
import { type ConnectOptions, connectIoredis, keepAwake, type RedisClass } from "./connect.ts";
import { ioredisClient } from "./ioredis.ts";
import type { Scripting } from "./scripting.ts";

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
