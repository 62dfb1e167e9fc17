import { onHttp, onMemory, onRedis } from "../harness/stepped-stores.ts";
import { limiterSuite } from "./suite.ts";
import { reservationSuite } from "./suite-reservations.ts";
import { severalSuite } from "./suite-several.ts";

for (const [name, open] of Object.entries({
  memory: onMemory,
  redis: () => onRedis(),
  "redis over HTTP": onHttp,
  "redis cluster": () => onRedis(true),
})) {
  limiterSuite(name, open);
  reservationSuite(name, open);
  severalSuite(name, open);
}
