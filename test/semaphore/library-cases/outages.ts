import { Redis } from "ioredis";
import { expect } from "vitest";
import { redisStore } from "../../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import type { Case } from "./lifetimes.ts";
import { Scene, type Subject } from "./subjects.ts";

const LEASE_MS = 3000;
const OPTIONS = { lockTimeout: LEASE_MS, acquireTimeout: 100, refreshInterval: 80 };
/** A server that is up again is connected after a pause. */
const PATIENT = { ...OPTIONS, acquireTimeout: 20_000 };

/** A server of a case's own, which it stops and starts again empty, at the same port. */
class Outage {
  readonly scene: Scene;
  #running: RedisServer;

  private constructor(scene: Scene, running: RedisServer) {
    this.scene = scene;
    this.#running = running;
  }

  static async play(subject: Subject, act: (outage: Outage) => Promise<void>): Promise<void> {
    const running = await startRedis({ tcp: true });
    const raw = new Redis(running.url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
    raw.on("error", () => {}); // the server is down for a while
    const store = redisStore(running.url, { deadline: 1000 });
    const outage = new Outage(new Scene(subject, { store, raw }), running);
    try {
      await act(outage);
    } finally {
      raw.disconnect();
      await store.close();
      await outage.#running.stop();
    }
  }

  async down(): Promise<void> {
    await this.#running.stop();
  }

  async up(): Promise<void> {
    this.#running = await startRedis({ tcp: this.#running.port });
  }
}

const lostWithTheServer: Case = ({ subject }) =>
  Outage.play(subject, async (outage) => {
    const { scene } = outage;
    const lost: unknown[] = [];
    const holds = subject.isLock ? 1 : 3;
    const locks = Array.from({ length: holds }, () =>
      scene.open(holds, {
        ...OPTIONS,
        onLockLost(error) {
          expect(this.isAcquired).toBe(false);
          lost.push(error);
        },
      }),
    );
    for (const lock of locks) await until("a hold", () => lock.tryAcquire()); // the connection is being opened
    await scene.hasHolds(holds);
    await outage.down();
    await until("all holds are lost", () => lost.length === locks.length);
    for (const error of lost) expect(error).toMatchObject({ code: "LOST" });
    await outage.up();
    const next = scene.open(holds, PATIENT);
    await next.acquire();
    await scene.hasHolds(1); // no lost hold was renewed
    for (const lock of [...locks, next]) await lock.release();
    await scene.hasHolds(0);
  });

export const outages: Readonly<Record<string, Case>> = {
  "[Node shutdown] > should lost lock when node become alive": lostWithTheServer,
};
