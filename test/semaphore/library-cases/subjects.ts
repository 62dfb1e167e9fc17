import type { Redis } from "ioredis";
import { expect } from "vitest";
import { type Looked, look, take } from "../../../src/hold/steps/steps.ts";
import { newToken } from "../../../src/hold/waiters.ts";
import { lockKeyOf } from "../../../src/lock/lock-state.ts";
import { semaphoreKeyOf } from "../../../src/semaphore/permits-in-use.ts";
import { numberedKeyOf } from "../../../src/semaphore/steps.ts";
import type { Store } from "../../../src/store/contract.ts";
import { until } from "../../harness/until.ts";
import { type LibraryLock, library, type ShimOptions } from "./shim.ts";

/** One server, with a store of oriel's and a client for the keys. */
export interface Server {
  readonly store: Store;
  readonly raw: Redis;
}

/** One of the library's six classes, or the functions of one of them. */
export interface Subject {
  readonly servers: 1 | 3;
  /** Those of one hold. */
  readonly permits: number;
  readonly isLock: boolean;
  /** `holds` fit at a time. A lock has one. */
  open(stores: readonly Store[], key: string, holds: number, options: ShimOptions): LibraryLock;
}

const PERMITS = 2;

const mutex: Subject = {
  servers: 1,
  permits: 1,
  isLock: true,
  open: ([store], key, _, options) => library.mutex(store!, key, options),
};
const redlockMutex: Subject = {
  servers: 3,
  permits: 1,
  isLock: true,
  open: (stores, key, _, options) => library.redlockMutex(stores, key, options),
};
const semaphore: Subject = {
  servers: 1,
  permits: 1,
  isLock: false,
  open: ([store], key, holds, options) => library.semaphore(store!, key, holds, options),
};
const redlockSemaphore: Subject = {
  servers: 3,
  permits: 1,
  isLock: false,
  open: (stores, key, holds, options) => library.semaphore(stores, key, holds, options),
};
const multiSemaphore: Subject = {
  servers: 1,
  permits: PERMITS,
  isLock: false,
  open: ([store], key, holds, options) => library.multiSemaphore(store!, key, holds * PERMITS, PERMITS, options),
};
const redlockMultiSemaphore: Subject = {
  servers: 3,
  permits: PERMITS,
  isLock: false,
  open: (stores, key, holds, options) => library.multiSemaphore(stores, key, holds * PERMITS, PERMITS, options),
};

/** The class that each test file of the library is about. */
export const subjects: Readonly<Record<string, Subject>> = {
  "test/src/Lock.test.ts": mutex,
  "test/src/index.test.ts": mutex,
  "test/src/RedisMutex.test.ts": mutex,
  "test/src/RedisSemaphore.test.ts": semaphore,
  "test/src/RedisMultiSemaphore.test.ts": multiSemaphore,
  "test/src/RedlockMutex.test.ts": redlockMutex,
  "test/src/RedlockSemaphore.test.ts": redlockSemaphore,
  "test/src/RedlockMultiSemaphore.test.ts": redlockMultiSemaphore,
  "test/src/mutex/acquire.test.ts": mutex,
  "test/src/mutex/refresh.test.ts": mutex,
  "test/src/mutex/release.test.ts": mutex,
  "test/src/redlockMutex/acquire.test.ts": redlockMutex,
  "test/src/redlockMutex/refresh.test.ts": redlockMutex,
  "test/src/redlockMutex/release.test.ts": redlockMutex,
  "test/src/semaphore/acquire/index.test.ts": semaphore,
  "test/src/semaphore/acquire/internal.test.ts": semaphore,
  "test/src/semaphore/refresh/index.test.ts": semaphore,
  "test/src/semaphore/release.test.ts": semaphore,
  "test/src/multiSemaphore/acquire/index.test.ts": multiSemaphore,
  "test/src/multiSemaphore/acquire/internal.test.ts": multiSemaphore,
  "test/src/multiSemaphore/refresh/index.test.ts": multiSemaphore,
  "test/src/multiSemaphore/release/index.test.ts": multiSemaphore,
};

let keys = 0;

/** One case's locks of one class, on a key of their own. */
export class Scene {
  readonly key = `case-${++keys}`;
  readonly subject: Subject;
  readonly servers: readonly Server[];

  constructor(subject: Subject, servers: readonly Server[]) {
    this.subject = subject;
    this.servers = servers.slice(0, subject.servers);
  }

  get stores(): readonly Store[] {
    return this.servers.map(({ store }) => store);
  }

  /** A lock of which `holds` can be held at a time. */
  open(holds: number, options: ShimOptions = {}): LibraryLock {
    return this.subject.open(this.stores, this.key, holds, options);
  }

  /** Only the permits of several servers are stored as the library stores them. */
  get isAsInLibrary(): boolean {
    return !this.subject.isLock && this.servers.length > 1;
  }

  /** The key on one server. */
  keyAt({ store }: Server): string {
    if (this.isAsInLibrary) return numberedKeyOf(store, this.key);
    return this.subject.isLock ? lockKeyOf(store, this.key) : semaphoreKeyOf(store, this.key);
  }

  /** The permits in use on one server, with the tokens of their holders. */
  async permitsAt(server: Server): Promise<string[]> {
    if (this.isAsInLibrary) return (await server.raw.zrangebyscore(this.keyAt(server), Date.now(), "+inf")).sort();
    const live = await this.#liveAt(server);
    return live.flatMap(({ token, permits }) => Array.from({ length: permits }, (_, i) => `${token}_${i}`)).sort();
  }

  /** Ms until the only hold on one server ends. */
  async leftMsAt(server: Server): Promise<number> {
    if (this.isAsInLibrary) return server.raw.pttl(this.keyAt(server));
    const { nowMs, holds } = await server.store.run(look, this.keyAt(server), undefined);
    expect(holds).toHaveLength(1);
    return holds[0]!.endMs - nowMs;
  }

  async #liveAt({ store, ...server }: Server): Promise<Looked["holds"]> {
    const { nowMs, holds } = await store.run(look, this.keyAt({ store, ...server }), undefined);
    return holds.filter(({ endMs }) => endMs >= nowMs);
  }

  /** The number of holds on one server. */
  async holdsAt(server: Server): Promise<number> {
    return (await this.permitsAt(server)).length / this.subject.permits;
  }

  /** Waits for that number of holds on every server. A majority answers before the last server does. */
  async hasHolds(count: number, servers = this.servers): Promise<void> {
    await until(`${count} holds of ${this.key}`, async () => {
      const counts = await Promise.all(servers.map((each) => this.holdsAt(each)));
      return counts.every((each) => each === count);
    });
  }

  /** All holds of the key are deleted on these servers. */
  async deleteHolds(servers = this.servers): Promise<void> {
    await Promise.all(servers.map((each) => each.raw.del(this.keyAt(each))));
  }

  /** As `deleteHolds`, and others have all of `holds` for a minute. The leases of some permits are over. */
  async giveToOthers(holds: number, servers = this.servers, expired = 0): Promise<void> {
    const permits = holds * this.subject.permits;
    const numbers = Array.from({ length: permits }, (_, number) => number);
    for (const server of servers) {
      const key = this.keyAt(server);
      await server.raw.del(key);
      if (this.isAsInLibrary) {
        const endMs = (number: number) => Date.now() + (number < expired ? -1000 : 60_000);
        await server.raw.zadd(key, ...numbers.flatMap((number) => [endMs(number), `another_${number}`]));
        continue;
      }
      const process = newToken().slice(0, -6);
      const tickets = numbers.map((number) => ({
        token: `${process}${`${number}`.padStart(6, "0")}`,
        permits: 1,
        limit: permits,
        leaseMs: number < expired ? 1 : 60_000,
      }));
      await server.store.run(take, key, { process, tickets, mayWait: false, isGuess: false });
    }
    const left = permits - expired;
    await until("the leases are over", async () => {
      const counts = await Promise.all(servers.map(async (each) => (await this.permitsAt(each)).length));
      return counts.every((count) => count === left);
    });
  }
}
