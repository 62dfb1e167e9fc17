import type { IoredisClient } from "../../../src/store/redis/ioredis-client.ts";
import { redisStore } from "../../../src/store/redis/redis.ts";
import { type MatrixStore, overMatrix } from "../../matrix/open.ts";
import { queueSuite } from "./suite.ts";
import { claimSuite } from "./suite-claims.ts";
import { closeSuite } from "./suite-close.ts";
import { emptySuite } from "./suite-empty.ts";
import { endingsSuite } from "./suite-endings.ts";
import { lapsedSuite } from "./suite-lapsed.ts";
import { listenersSuite } from "./suite-listeners.ts";
import { shardsSuite } from "./suite-shards.ts";
import { workSuite } from "./suite-work.ts";

/** The suite expects that workers are notified. Only over HTTP they poll (http-polling.test.ts). */
async function reported(opening: Promise<MatrixStore>): Promise<MatrixStore> {
  const opened = await opening;
  if (opened.store.subscribe) return opened;
  const ear = redisStore(opened.client as unknown as IoredisClient);
  const close = () => ear.close().then(() => opened.close());
  return { ...opened, store: { ...opened.store, subscribe: ear.subscribe! }, close };
}

overMatrix("queue", (name, open) => {
  for (const suite of [
    queueSuite,
    workSuite,
    claimSuite,
    lapsedSuite,
    shardsSuite,
    listenersSuite,
    endingsSuite,
    closeSuite,
    emptySuite,
  ])
    suite(name, () => reported(open()));
});
