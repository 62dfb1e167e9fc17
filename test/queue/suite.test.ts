import { onHttp, onMemory, onRedis } from "../harness/stepped-stores.ts";
import { queueSuite } from "./suite.ts";
import { claimSuite } from "./suite-claims.ts";
import { workSuite } from "./suite-work.ts";

const stores = { memory: onMemory, redis: () => onRedis(), http: onHttp, "a cluster": () => onRedis(true) };

for (const [name, open] of Object.entries(stores))
  for (const suite of [queueSuite, workSuite, claimSuite]) suite(name, open);
