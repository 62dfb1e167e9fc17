import { describe, test } from "vitest";
import { allStores } from "./stores.ts";
import { storeSuite } from "./suite.ts";

for (const [name, open] of Object.entries(allStores))
  if (typeof open === "function") storeSuite(name, open);
  else {
    console.info(`${name}: not run: ${open}`);
    describe(name, () => test.skip(`not run: ${open}`));
  }
