import type { IoredisClient } from "../../src/store/ioredis-client.ts";
import { redisStore } from "../../src/store/redis.ts";
import { type OpenStore, onHttp, onMemory, onRedis } from "../harness/stepped-stores.ts";
import { queueSuite } from "./suite.ts";
import { claimSuite } from "./suite-claims.ts";
import { lapsedSuite } from "./suite-lapsed.ts";
import { workSuite } from "./suite-work.ts";

/** The suite expects that workers are told; over HTTP alone they look by time (http-polling.test.ts). */
async function onHttpAndTold(): Promise<OpenStore> {
  const opened = await onHttp();
  const ear = redisStore(opened.client as unknown as IoredisClient);
  const close = () => ear.close().then(() => opened.close());
  return { ...opened, store: { ...opened.store, subscribe: ear.subscribe! }, close };
}

const stores = {
  memory: onMemory,
  redis: () => onRedis(),
  "redis over HTTP": onHttpAndTold,
  "a cluster": () => onRedis(true),
};

for (const [name, open] of Object.entries(stores))
  for (const suite of [queueSuite, workSuite, claimSuite, lapsedSuite]) suite(name, open);
