import type { Redis } from "ioredis";
import { expect } from "vitest";
import { lockKeyOf } from "../../../src/holds/lock/lock-state.ts";
import { semaphoreKeyOf } from "../../../src/holds/semaphore/permit-calls.ts";
import { type Looked, look, take } from "../../../src/holds/steps/steps.ts";
import { newToken } from "../../../src/holds/waiters.ts";
import type { Store } from "../../../src/store/contract.ts";
import { until } from "../../harness/until.ts";
import { type LibraryLock, library, type ShimOptions } from "./shim.ts";

/** One server, with a store of oriel's and a client for the keys. */
export interface Server {
  readonly store: Store;
  readonly raw: Redis;
}

/** One of the library's three classes for one server, or the functions of one of them. */
export interface Subject {
  /** Those of one hold. */
  readonly permits: number;
  readonly isLock: boolean;
  /** `holds` fit at a time. A lock has one. */
  open(store: Store, key: string, holds: number, options: ShimOptions): LibraryLock;
}

const PERMITS = 2;

const mutex: Subject = {
  permits: 1,
  isLock: true,
  open: (store, key, _, options) => library.mutex(store, key, options),
};
const semaphore: Subject = {
  permits: 1,
  isLock: false,
  open: (store, key, holds, options) => library.semaphore(store, key, holds, options),
};
const multiSemaphore: Subject = {
  permits: PERMITS,
  isLock: false,
  open: (store, key, holds, options) => library.multiSemaphore(store, key, holds * PERMITS, PERMITS, options),
};

/** The class that each test file of the library is about. */
export const subjects: Readonly<Record<string, Subject>> = {
  "test/src/Lock.test.ts": mutex,
  "test/src/index.test.ts": mutex,
  "test/src/RedisMutex.test.ts": mutex,
  "test/src/RedisSemaphore.test.ts": semaphore,
  "test/src/RedisMultiSemaphore.test.ts": multiSemaphore,
  "test/src/mutex/acquire.test.ts": mutex,
  "test/src/mutex/refresh.test.ts": mutex,
  "test/src/mutex/release.test.ts": mutex,
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
  readonly server: Server;

  constructor(subject: Subject, server: Server) {
    this.subject = subject;
    this.server = server;
  }

  /** A lock of which `holds` can be held at a time. */
  open(holds: number, options: ShimOptions = {}): LibraryLock {
    return this.subject.open(this.server.store, this.key, holds, options);
  }

  /** The key of the state. */
  get #stateKey(): string {
    const { store } = this.server;
    return this.subject.isLock ? lockKeyOf(store, this.key) : semaphoreKeyOf(store, this.key);
  }

  /** The permits in use, with the tokens of their holders. */
  async permits(): Promise<string[]> {
    const { nowMs, holds } = await this.#looked();
    const live = holds.filter(({ endMs }) => endMs >= nowMs);
    return live.flatMap(({ token, permits }) => Array.from({ length: permits }, (_, i) => `${token}_${i}`)).sort();
  }

  /** Ms until the only hold ends. */
  async leftMs(): Promise<number> {
    const { nowMs, holds } = await this.#looked();
    expect(holds).toHaveLength(1);
    return holds[0]!.endMs - nowMs;
  }

  #looked(): Promise<Looked> {
    return this.server.store.run(look, this.#stateKey, undefined);
  }

  async hasHolds(count: number): Promise<void> {
    await until(
      `${count} holds of ${this.key}`,
      async () => (await this.permits()).length === count * this.subject.permits,
    );
  }

  /** All holds of the key are deleted. */
  async deleteHolds(): Promise<void> {
    await this.server.raw.del(this.#stateKey);
  }

  /** As `deleteHolds`, and others have all of `holds` for a minute. The leases of some permits are over. */
  async giveToOthers(holds: number, expired = 0): Promise<void> {
    await this.deleteHolds();
    const permits = holds * this.subject.permits;
    const process = newToken().slice(0, -6);
    const tickets = Array.from({ length: permits }, (_, number) => ({
      token: `${process}${`${number}`.padStart(6, "0")}`,
      permits: 1,
      limit: permits,
      leaseMs: number < expired ? 1 : 60_000,
    }));
    await this.server.store.run(take, this.#stateKey, { process, tickets, mayWait: false, isGuess: false });
    await until("the leases are over", async () => (await this.permits()).length === permits - expired);
  }
}
