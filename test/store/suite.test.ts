import { stores } from "./stores.ts";
import { storeSuite } from "./suite.ts";

for (const [name, open] of Object.entries(stores)) storeSuite(name, open);
