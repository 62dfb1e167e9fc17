import { onHttp, onMemory, onRedis } from "../harness/stepped-stores.ts";
import { onNothing } from "./stage.ts";
import { breakerSuite } from "./suite.ts";
import { fleetSuite } from "./suite-fleet.ts";

const stores = { memory: onMemory, redis: () => onRedis(), http: onHttp, "a cluster": () => onRedis(true) };

for (const [name, open] of Object.entries({ "no store": onNothing, ...stores })) breakerSuite(name, open);
for (const [name, open] of Object.entries(stores)) fleetSuite(name, open);
