import { Redis } from "ioredis";
import * as library from "redis-semaphore";
import { redisStore } from "../../../src/entries/index.ts";
import { QuorumLock, Semaphore } from "../../../src/entries/structures/semaphore.ts";
import type { LockClient } from "./lock.ts";

export const PERMITS = 5;
const LEASE_MS = 60_000;
const WAIT_MS = 10_000;

/** A kind of lock, of `limit` holders, and how each rival opens it. The servers are databases of one Redis. */
export interface SemaphoreKind {
  readonly kind: string;
  readonly limit: number;
  readonly servers: number;
  readonly rivals: Record<string, (clients: Redis[], name: string) => Pick<LockClient, "pair">>;
}

interface Hold {
  release(): Promise<unknown>;
}

/** `null`, or the failure of an aborted wait, is no hold. */
function pairs(acquire: (signal: AbortSignal) => Promise<Hold | null>): Pick<LockClient, "pair"> {
  return {
    async pair(signal, step) {
      const held = await acquire(signal).catch((error: unknown) => {
        if (signal.aborted) return null;
        throw error;
      });
      if (!held) return false;
      await step();
      await held.release();
      return true;
    },
  };
}

const ORIEL = { wait: WAIT_MS, lease: LEASE_MS };
const LIBRARY = { acquireTimeout: WAIT_MS, lockTimeout: LEASE_MS };

/** A lock of the library is one hold, so each pair has its own. */
const ofLibrary = (make: () => Hold & { tryAcquire(signal: AbortSignal): Promise<boolean> }) =>
  pairs(async (signal) => {
    const lock = make();
    return (await lock.tryAcquire(signal)) ? lock : null;
  });

export const SEMAPHORE_KINDS: readonly SemaphoreKind[] = [
  {
    kind: "semaphore",
    limit: PERMITS,
    servers: 1,
    rivals: {
      "redis-semaphore": ([client], name) => ofLibrary(() => new library.Semaphore(client!, name, PERMITS, LIBRARY)),
      oriel(clients, name) {
        const semaphore = new Semaphore(redisStore(clients[0]!, { deadline: "1m" }), name, { limit: PERMITS });
        return pairs((signal) => semaphore.acquire({ ...ORIEL, signal }));
      },
    },
  },
  {
    kind: "lock of three servers",
    limit: 1,
    servers: 3,
    rivals: {
      "redis-semaphore": (clients, name) => ofLibrary(() => new library.RedlockMutex(clients, name, LIBRARY)),
      oriel(clients, name) {
        const lock = new QuorumLock(clients, name);
        return pairs((signal) => lock.tryLock({ ...ORIEL, signal }));
      },
    },
  },
];

/** Opens one client's connections. */
export function openClients(redisUrl: string, servers: number): Redis[] {
  return Array.from({ length: servers }, (_, db) => new Redis(redisUrl, { db }));
}
