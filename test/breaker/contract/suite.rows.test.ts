import { overMatrix } from "../../matrix/open.ts";
import { onNothing } from "./stage.ts";
import { breakerSuite } from "./suite.ts";
import { fleetSuite } from "./suite-fleet.ts";
import { orderSuite } from "./suite-orders.ts";
import { probeSuite } from "./suite-probes.ts";
import { quorumSuite } from "./suite-quorum.ts";

breakerSuite("no store", onNothing);
orderSuite("no store", onNothing);
overMatrix("breaker", (name, open) => {
  breakerSuite(name, open);
  orderSuite(name, open);
  fleetSuite(name, open);
  quorumSuite(name, open);
  probeSuite(name, open);
});
