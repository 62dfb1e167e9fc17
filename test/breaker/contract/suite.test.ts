import { overMatrix } from "../../matrix/open.ts";
import { onNothing } from "./stage.ts";
import { breakerSuite } from "./suite.ts";
import { fleetSuite } from "./suite-fleet.ts";

breakerSuite("no store", onNothing);
overMatrix("breaker", (name, open) => {
  breakerSuite(name, open);
  fleetSuite(name, open);
});
