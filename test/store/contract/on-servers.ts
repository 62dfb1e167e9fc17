import type { Store } from "../../../src/store/contract.ts";
import type { RedisStoreOptions } from "../../../src/store/redis/client-store.ts";
import { onSteppedClock } from "../../harness/clock/stepped-script.ts";
import { files } from "../ops/operations.ts";
import type { Connected } from "./clients.ts";

/** A store on a clock that tests step, and what lies under its keys. */
export interface OpenStore {
  store: Store;
  clock: { nowMs: number };
  state(key: string): Promise<{ bytes: Uint8Array; expireAtMs: number } | undefined>;
  clear(): Promise<void>;
  close(): Promise<void>;
}

/** Ahead of any server's clock: 2100. */
export const START_MS = Date.UTC(2100, 0, 1);

/** The part of a client that reads keys. */
export interface Raw {
  getBuffer(key: string): Promise<Uint8Array | null>;
  pexpiretime(key: string): Promise<number>;
  disconnect(): void;
}

/** The servers of a store's client, and a test client that reads its keys. */
export interface Servers extends Connected {
  raw: Raw;
  flush(): Promise<unknown>;
  stop(): Promise<void>;
}

export function onServers(start: () => Promise<Servers>, options: RedisStoreOptions = {}) {
  return async (): Promise<OpenStore> => {
    const { storeOf, end, raw, flush, stop } = await start();
    const clock = { nowMs: START_MS };
    const store = storeOf({
      scriptOf: onSteppedClock(() => clock.nowMs, files),
      ...options,
    });
    return {
      store,
      clock,
      async state(key) {
        const bytes = await raw.getBuffer(key);
        const expireAtMs = await raw.pexpiretime(key);
        // A server expires keys by its own clock. A key that is over by the test's clock counts as expired.
        if (!bytes || (expireAtMs >= 0 && expireAtMs < clock.nowMs)) return undefined;
        return { bytes: new Uint8Array(bytes), expireAtMs: expireAtMs < 0 ? Number.POSITIVE_INFINITY : expireAtMs };
      },
      async clear() {
        await flush();
      },
      async close() {
        await store.close();
        await end();
        raw.disconnect();
        await stop();
      },
    };
  };
}
