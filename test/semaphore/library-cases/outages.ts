import { Redis } from "ioredis";
import { expect } from "vitest";
import { redisStore } from "../../../src/entries/index.ts";
import { type RedisServer, startRedis } from "../../harness/servers/redis-server.ts";
import { until } from "../../harness/until.ts";
import type { Case } from "./lifetimes.ts";
import { Scene, type Server, type Subject } from "./subjects.ts";

const LEASE_MS = 600;
const OPTIONS = { lockTimeout: LEASE_MS, acquireTimeout: 100, refreshInterval: 80 };
/** A server that is up again is connected after a pause. */
const PATIENT = { ...OPTIONS, acquireTimeout: 20_000 };

/** Servers of a case's own, which it stops and starts again empty, at the same ports. */
class Outage {
  readonly scene: Scene;
  readonly #running: RedisServer[];

  private constructor(scene: Scene, running: RedisServer[]) {
    this.scene = scene;
    this.#running = running;
  }

  static async play(subject: Subject, act: (outage: Outage) => Promise<void>): Promise<void> {
    const running = await Promise.all(Array.from({ length: subject.servers }, () => startRedis({ tcp: true })));
    const servers = running.map(({ url }): Server => {
      const raw = new Redis(url, { retryStrategy: () => 20, maxRetriesPerRequest: null });
      raw.on("error", () => {}); // the servers are down for a while
      return { store: redisStore(url, { deadline: 1000 }), raw };
    });
    const outage = new Outage(new Scene(subject, servers), running);
    try {
      await act(outage);
    } finally {
      for (const { raw } of servers) raw.disconnect();
      await Promise.all(servers.map(({ store }) => store.close()));
      await Promise.all(outage.#running.map((each) => each.stop()));
    }
  }

  async down(i: number): Promise<void> {
    await this.#running[i]!.stop();
  }

  async up(i: number): Promise<void> {
    this.#running[i] = await startRedis({ tcp: this.#running[i]!.port });
  }
}

const holdsOf = ({ isLock }: Subject) => (isLock ? 1 : 3);

/** As many holds as fit, and how many of them were lost. */
async function acquired({ scene }: Outage) {
  const lost: unknown[] = [];
  const holds = holdsOf(scene.subject);
  const locks = Array.from({ length: holds }, () =>
    scene.open(holds, {
      ...OPTIONS,
      onLockLost(error) {
        expect(this.isAcquired).toBe(false);
        lost.push(error);
      },
    }),
  );
  for (const lock of locks) await until("a hold", () => lock.tryAcquire()); // connections are being opened
  await scene.hasHolds(holds);
  return { locks, lost };
}

const another = ({ scene }: Outage, options = OPTIONS) => scene.open(holdsOf(scene.subject), options);

const lostWithTheServer: Case = ({ subject }) =>
  Outage.play(subject, async (outage) => {
    const { locks, lost } = await acquired(outage);
    await outage.down(0);
    await until("all holds are lost", () => lost.length === locks.length);
    for (const error of lost) expect(error).toMatchObject({ code: "LOST" });
    await outage.up(0);
    const next = another(outage, PATIENT);
    await next.acquire();
    await outage.scene.hasHolds(1); // no lost hold was renewed
    for (const lock of [...locks, next]) await lock.release();
    await outage.scene.hasHolds(0);
  });

const heldByTheOthers: Case = ({ subject }) =>
  Outage.play(subject, async (outage) => {
    const { scene } = outage;
    const { locks, lost } = await acquired(outage);
    const permits = await scene.permitsAt(scene.servers[0]!);
    for (const [i, server] of scene.servers.entries()) {
      await outage.down(i);
      await expect(another(outage).acquire()).rejects.toMatchObject({ code: "DEADLINE" });
      await outage.up(i);
      // A renewal gives the server its holds again, as soon as a late request of the other lock is undone.
      await until("the same holds", async () => `${await scene.permitsAt(server)}` === `${permits}`);
      expect(locks.map(({ isAcquired }) => isAcquired)).not.toContain(false);
    }
    expect(lost).toEqual([]);
    for (const lock of locks) await lock.release();
    await scene.hasHolds(0);
  });

const lostWithTheMajority: Case = ({ subject }) =>
  Outage.play(subject, async (outage) => {
    const { locks, lost } = await acquired(outage);
    await outage.down(0);
    await outage.down(1);
    await until("all holds are lost", () => lost.length === locks.length);
    for (const error of lost) expect(error).toMatchObject({ code: "LOST" });
    await outage.scene.hasHolds(0, [outage.scene.servers[2]!]);
    // The library calls this a timeout. oriel says which servers fail.
    await expect(another(outage).acquire()).rejects.toMatchObject({
      transient: true,
      message: expect.stringContaining("1 of 3 servers answered, and 2 must agree"),
    });
  });

export const outages: Readonly<Record<string, Case>> = {
  "[Node shutdown] > should lost lock when node become alive": lostWithTheServer,
  "[Node shutdown] > should handle server shutdown if quorum is alive": heldByTheOthers,
  "[Node shutdown] > should fail and release when quorum is become dead": lostWithTheMajority,
  "[Node shutdown] > should fail and release when quorum become dead": lostWithTheMajority,
  "[Node shutdown] > should fail and release if quorum become dead": lostWithTheMajority,
};
