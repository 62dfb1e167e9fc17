import { expect, test } from "vitest";
import { DelayQueue, Lock, ReadWriteLock, redisStore } from "../../../src/entries/index.ts";
import { Semaphore } from "../../../src/entries/structures/semaphore.ts";
import type { WatchedStore } from "../../../src/store/contract.ts";
import { oncePerFile } from "../../harness/ends.ts";
import { RespConnection } from "../../harness/network/resp-connection.ts";
import { startRedis } from "../../harness/servers/redis-server.ts";
import { startRestricted } from "../../harness/servers/restricted.ts";
import type { Restriction } from "../../harness/servers/restrictions.ts";
import { until } from "../../harness/until.ts";
import { clients, storeOn } from "../contract/clients.ts";

const redis = oncePerFile(() =>
  startRedis({ tcp: true, args: ["--appendonly", "yes", "--appendfsync", "no", "--maxmemory-policy", "noeviction"] }),
);
const SUBSCRIBE = ["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE"];

/** Refusals of SUBSCRIBE, and the words of the warning. */
const REFUSALS: Record<string, { restriction: Restriction; user?: true; warning: RegExp }> = {
  "unknown command": { restriction: { commands: SUBSCRIBE }, warning: /ERR unknown command 'SUBSCRIBE'/ },
  NOPERM: { restriction: {}, user: true, warning: /NOPERM .*'subscribe'/ },
  "closes the connection": { restriction: { closesAfter: SUBSCRIBE }, warning: /it closes the connection/ },
};

const OPEN = {
  "by URL": (url: string) => ({ storeOf: (options: object) => redisStore(url, options), end: () => {} }),
  ...clients,
};

const CASES = Object.entries(REFUSALS).flatMap(([refusal, each]) =>
  Object.entries(OPEN).map(([client, open]) => ({ refusal, client, open, ...each })),
);

test.concurrent.each(CASES)(
  "$refusal, $client: waiters poll, and one warning says so",
  async ({ refusal, client, open, restriction, user, warning }) => {
    const name = `${refusal} ${client}`;
    const { port, url } = await redis();
    const server = await startRestricted(port, restriction);
    if (user) {
      const raw = new RespConnection(url);
      await raw.send([["ACL", "SETUSER", "app", "on", ">password", "~*", "&*", "+@all", "-subscribe"]]);
      raw.close();
    }
    const warnings: string[] = [];
    const errors: unknown[] = [];
    const given = await open(user ? server.url.replace("//", "//app:password@") : server.url);
    const store = storeOn(given, { deadline: 5000, onWarning: (warning) => warnings.push(warning) }) as WatchedStore;
    const another = redisStore(url);
    store.on("error", (error) => errors.push(error));
    store.on("down", (error) => errors.push(error));
    try {
      // Each lock is held by another process when it is asked for.
      const locks = [1, 2, 3].map((i) => `${name}${i}`);
      const held = await Promise.all(locks.map((each) => new Lock(another, each).tryLock()));
      const waiting = locks.map((each) => new Lock(store, each).tryLock({ wait: "20s" }));
      const readWrite = new ReadWriteLock(another, `${name} rw`);
      const reader = await readWrite.read.tryLock();
      const writing = new ReadWriteLock(store, `${name} rw`).write.tryLock({ wait: "20s" });
      const permits = (owner: typeof store) => new Semaphore(owner, `${name} semaphore`, { limit: 1 });
      const permit = await permits(another).tryAcquire();
      const acquiring = permits(store).acquire({ wait: "20s" });
      const queue = new DelayQueue(store, `${name} queue`);
      const worker = queue.process(() => {});
      const done = new Promise((resolve) => worker.on("completed", resolve));

      // The refusals, and some polls.
      await until("a refusal", () => store.subscribe === undefined);
      await new Promise((resolve) => setTimeout(resolve, 300));
      const { length } = warnings;
      const before = server.connections();
      await Promise.all([...held, reader, permit].map((each) => each!.release()));
      for (const each of [...waiting, writing, acquiring]) expect(await (await each)!.release()).toBe(true);
      // A worker looks after 5 s at most, which is enough for one client.
      await new DelayQueue(another, `${name} queue`).add("hello");
      if (client === "by URL") await done;
      await worker.close();

      expect(server.connections()).toBe(before);
      // One for the calls, and three at most for the subscriptions.
      expect(before).toBeLessThanOrEqual(4);
      expect(warnings).toEqual([expect.stringMatching(warning)]);
      expect(length).toBe(1);
      expect(errors).toEqual([]);
    } finally {
      await store.close();
      await another.close();
      given.end();
      await server.stop();
    }
  },
);
